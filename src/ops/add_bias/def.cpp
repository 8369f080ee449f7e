// Definitions of add_bias and add_bias_grad.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void add_bias_reference(const OpSig& sig, const Operands& operands);
void add_bias_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> add_bias_cases();
std::vector<OpCase> add_bias_grad_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && !in[0].shape.empty(), "add_bias", "x is [..,C]", in);
  expect_types(in[1] == TensorType{in[0].dtype, {in[0].shape.back()}}, "add_bias",
               "the bias is [C] of x's dtype", in);
  return {in[0]};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = count(sig.inputs[0].shape);
  return cost;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  builder.add_input_grad(0, dy);
  if (builder.wants_grad(1)) builder.emit({"add_bias_grad", {}, {dy}, {builder.param_grad(1)}, {}});
}

std::vector<TensorType> infer_grad(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && !in[0].shape.empty(), "add_bias_grad", "dy is [..,C]", in);
  return {{DType::f32, {in[0].shape.back()}}};
}

Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.bytes_read += bytes_of(sig.outputs[0]);  // the accumulator
  cost.flops = count(sig.inputs[0].shape);
  return cost;
}

}  // namespace

std::vector<OpEntry> add_bias_ops() {
  OpDef add_bias;
  add_bias.name = "add_bias";
  add_bias.inputs = {{"x"}, {"bias"}};
  add_bias.outputs = {{"y"}};
  add_bias.infer = infer;
  add_bias.cost = cost;
  add_bias.gradient = gradient;
  add_bias.reduction = [](const OpSig&) { return int64_t{2}; };
  add_bias.in_place = {{0, 0}};

  OpDef grad;
  grad.name = "add_bias_grad";
  grad.inputs = {{"dy"}};
  grad.outputs = {{"dbias", OperandDef::Use::accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.reduction = [](const OpSig& sig) {
    const Shape& dy = sig.inputs[0].shape;
    return 1 + count(dy) / dy.back();
  };

  return {{add_bias, add_bias_reference, add_bias_cases},
          {grad, add_bias_grad_reference, add_bias_grad_cases}};
}

}  // namespace trireme
