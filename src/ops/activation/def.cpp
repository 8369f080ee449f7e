// Definitions of activation and activation_grad.
#include "ops/activation/activation.h"

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void activation_reference(const OpSig& sig, const Operands& operands);
void activation_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> activation_cases();
std::vector<OpCase> activation_grad_cases();

namespace {

bool known(const Attrs& attrs) {
  const auto kind = unpack_attrs<ActivationAttrs>(attrs).kind;
  return kind == "gelu_tanh" || kind == "gelu" || kind == "relu2";
}

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  expect_types(known(attrs), "activation", "kind is gelu_tanh, gelu or relu2", in);
  expect_types(is_compute(in[0].dtype), "activation", "x is f32 or bf16", in);
  return {in[0]};
}

// Operations per element, a transcendental counted as one.
int64_t flops_per_element(const OpSig& sig, int64_t gelu_tanh, int64_t gelu, int64_t relu2) {
  const auto kind = unpack_attrs<ActivationAttrs>(sig.attrs).kind;
  return kind == "gelu_tanh" ? gelu_tanh : kind == "gelu" ? gelu : relu2;
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = count(sig.inputs[0].shape) * flops_per_element(sig, 8, 5, 2);
  return cost;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid() || !builder.wants_grad(0)) return;
  const auto dx =
      builder.emit({"activation_grad", builder.op().attrs, {builder.input(0), dy}, {}, {"activation.dx"}});
  builder.add_input_grad(0, dx[0]);
}

std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  expect_types(known(attrs), "activation_grad", "kind is gelu_tanh, gelu or relu2", in);
  expect_types(is_compute(in[0].dtype) && in[0] == in[1], "activation_grad", "x and dy have one type", in);
  return {in[0]};
}

Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = count(sig.inputs[0].shape) * flops_per_element(sig, 15, 10, 3);
  return cost;
}

}  // namespace

std::vector<OpEntry> activation_ops() {
  OpDef activation;
  activation.name = "activation";
  activation.inputs = {{"x"}};
  activation.outputs = {{"y"}};
  activation.infer = infer;
  activation.cost = cost;
  activation.gradient = gradient;
  activation.place = place_by_elements;
  activation.reduction = [](const OpSig&) { return int64_t{1}; };
  activation.in_place = {{0, 0}};

  OpDef grad;
  grad.name = "activation_grad";
  grad.inputs = {{"x"}, {"dy"}};
  grad.outputs = {{"dx"}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.reduction = [](const OpSig&) { return int64_t{1}; };
  grad.in_place = {{1, 0}};

  return {{activation, activation_reference, activation_cases},
          {grad, activation_grad_reference, activation_grad_cases}};
}

}  // namespace trireme
