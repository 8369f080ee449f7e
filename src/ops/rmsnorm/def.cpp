// Definitions of rmsnorm and rmsnorm_grad.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/layernorm/norm_rules.h"

namespace trireme {

void rmsnorm_reference(const OpSig& sig, const Operands& operands);
void rmsnorm_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> rmsnorm_cases();
std::vector<OpCase> rmsnorm_grad_cases();

namespace {

// x, weight
std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_gain(in[1], in[0]), "rmsnorm", "weight is [C] for x[..,C], in one compute dtype", in);
  return {in[0], row_statistic(in[0])};
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const ValueId residual = builder.take_input_grad(0);
  const auto out =
      builder.emit({.kind = "rmsnorm_grad",
                    .attrs = {},
                    .inputs = {builder.input(0), builder.input(1), builder.output(1), dy, residual},
                    .outputs = {ValueId(), builder.param_grad(1)},
                    .names = {"rmsnorm.dx", ""}});
  builder.add_input_grad(0, out[0]);
}

// x, weight, rstd, dy, residual_grad?
std::vector<TensorType> infer_grad(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_gain(in[1], in[0]), "rmsnorm_grad", "weight is [C] for x[..,C], in one compute dtype", in);
  expect_types(in[2] == row_statistic(in[0]), "rmsnorm_grad", "rstd is f32, one per row", in);
  expect_types(in[3] == in[0] && (!present(in[4]) || in[4] == in[0]), "rmsnorm_grad",
               "dy and residual_grad have x's type", in);
  return {in[0], {DType::f32, in[1].shape}};
}

}  // namespace

std::vector<OpEntry> rmsnorm_ops() {
  using Use = OperandDef::Use;
  OpDef norm;
  norm.name = "rmsnorm";
  norm.inputs = {{"x"}, {"weight"}};
  norm.outputs = {{"y"}, {"rstd"}};
  norm.infer = infer;
  norm.cost = [](const OpSig& sig) { return norm_cost(sig, 4); };
  norm.gradient = gradient;
  norm.reduction = norm_reduction;

  OpDef grad;
  grad.name = "rmsnorm_grad";
  grad.inputs = {{"x"}, {"weight"}, {"rstd"}, {"dy"}, {"residual_grad", Use::optional}};
  grad.outputs = {{"dx"}, {"dweight", Use::accumulate}};
  grad.infer = infer_grad;
  grad.cost = [](const OpSig& sig) { return norm_cost(sig, 10 + (present(sig.inputs[4]) ? 1 : 0)); };
  grad.scratch_bytes = [](const OpSig& sig, int) { return norm_grad_scratch(sig); };
  grad.reduction = norm_reduction;
  grad.in_place = {{3, 0}, {4, 0}};

  return {{norm, rmsnorm_reference, rmsnorm_cases}, {grad, rmsnorm_grad_reference, rmsnorm_grad_cases}};
}

}  // namespace trireme
