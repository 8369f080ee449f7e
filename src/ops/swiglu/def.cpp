// The gated feed-forward function (Shazeer 2020, "GLU Variants Improve Transformer"), without attributes:
//
//   swiglu(gate_up[...,2F]) -> y[...,F]                  y = silu(gate) * up, gate = the first F columns
//   swiglu_grad(gate_up[...,2F], dy[...,F]) -> dgate_up[...,2F]
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void swiglu_reference(const OpSig& sig, const Operands& operands);
void swiglu_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> swiglu_cases();
std::vector<OpCase> swiglu_grad_cases();

namespace {

// [..., F] of gate_up[..., 2F].
TensorType half(TensorType gate_up) {
  gate_up.shape.back() /= 2;
  return gate_up;
}

void expect_gate_up(std::string_view op, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && !in[0].shape.empty() && in[0].shape.back() % 2 == 0, op,
               "gate_up is [...,2F]", in);
}

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_gate_up("swiglu", in);
  return {half(in[0])};
}

// Operations per output element, a transcendental counted as one: exp, +, /, * gate, * up.
Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = 5 * count(sig.outputs[0].shape);
  return cost;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid() || !builder.wants_grad(0)) return;
  const auto dx = builder.emit({"swiglu_grad", {}, {builder.input(0), dy}, {}, {"swiglu.dgate_up"}});
  builder.add_input_grad(0, dx[0]);
}

std::vector<TensorType> infer_grad(const Attrs&, std::span<const TensorType> in) {
  expect_gate_up("swiglu_grad", in);
  expect_types(in[1] == half(in[0]), "swiglu_grad", "dy is [...,F]", in);
  return {in[0]};
}

Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = 11 * count(sig.inputs[1].shape);
  return cost;
}

}  // namespace

std::vector<OpEntry> swiglu_ops() {
  OpDef swiglu;
  swiglu.name = "swiglu";
  swiglu.inputs = {{"gate_up"}};
  swiglu.outputs = {{"y"}};
  swiglu.infer = infer;
  swiglu.cost = cost;
  swiglu.gradient = gradient;
  swiglu.place = place_by_elements;
  swiglu.reduction = [](const OpSig&) { return int64_t{1}; };

  OpDef grad;
  grad.name = "swiglu_grad";
  grad.inputs = {{"gate_up"}, {"dy"}};
  grad.outputs = {{"dgate_up"}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.reduction = [](const OpSig&) { return int64_t{2}; };
  grad.in_place = {{0, 0}};

  return {{swiglu, swiglu_reference, swiglu_cases}, {grad, swiglu_grad_reference, swiglu_grad_cases}};
}

}  // namespace trireme
