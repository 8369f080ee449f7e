// Definitions of layernorm and layernorm_grad.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/layernorm/norm_rules.h"

namespace trireme {

void layernorm_reference(const OpSig& sig, const Operands& operands);
void layernorm_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> layernorm_cases();
std::vector<OpCase> layernorm_grad_cases();

namespace {

// x, weight, bias?
std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_gain(in[1], in[0]), "layernorm", "weight is [C] for x[..,C], in one compute dtype", in);
  expect_types(!present(in[2]) || in[2] == in[1], "layernorm", "bias has the weight's type", in);
  return {in[0], row_statistic(in[0]), row_statistic(in[0])};
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const ValueId residual = builder.take_input_grad(0), dbias = builder.param_grad(2);
  const auto out = builder.emit(
      {.kind = "layernorm_grad",
       .attrs = pack_attrs(LayernormGradAttrs{dbias.valid() ? 1 : 0}),
       .inputs = {builder.input(0), builder.input(1), builder.output(1), builder.output(2), dy, residual},
       .outputs = {ValueId(), builder.param_grad(1), dbias},
       .names = {"layernorm.dx", "", ""}});
  builder.add_input_grad(0, out[0]);
}

// x, weight, mean, rstd, dy, residual_grad?
std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  const bool bias = unpack_attrs<LayernormGradAttrs>(attrs).bias != 0;
  expect_types(is_gain(in[1], in[0]), "layernorm_grad", "weight is [C] for x[..,C], in one compute dtype",
               in);
  expect_types(in[2] == row_statistic(in[0]) && in[3] == in[2], "layernorm_grad",
               "mean and rstd are f32, one per row", in);
  expect_types(in[4] == in[0] && (!present(in[5]) || in[5] == in[0]), "layernorm_grad",
               "dy and residual_grad have x's type", in);
  const TensorType sums{DType::f32, in[1].shape};
  return {in[0], sums, bias ? sums : absent_type()};
}

}  // namespace

std::vector<OpEntry> layernorm_ops() {
  using Use = OperandDef::Use;
  OpDef norm;
  norm.name = "layernorm";
  norm.inputs = {{"x"}, {"weight"}, {"bias", Use::optional}};
  norm.outputs = {{"y"}, {"mean"}, {"rstd"}};
  norm.infer = infer;
  norm.cost = [](const OpSig& sig) { return norm_cost(sig, present(sig.inputs[2]) ? 8 : 7); };
  norm.gradient = gradient;
  norm.reduction = norm_reduction;

  OpDef grad;
  grad.name = "layernorm_grad";
  grad.inputs = {{"x"}, {"weight"}, {"mean"}, {"rstd"}, {"dy"}, {"residual_grad", Use::optional}};
  grad.outputs = {{"dx"}, {"dweight", Use::accumulate}, {"dbias", Use::optional_accumulate}};
  grad.infer = infer_grad;
  grad.cost = [](const OpSig& sig) {
    return norm_cost(sig, 14 + (present(sig.inputs[5]) ? 1 : 0) + (present(sig.outputs[2]) ? 1 : 0));
  };
  grad.scratch_bytes = [](const OpSig& sig, int) { return norm_grad_scratch(sig); };
  grad.reduction = norm_reduction;
  grad.in_place = {{4, 0}, {5, 0}};

  return {{norm, layernorm_reference, layernorm_cases},
          {grad, layernorm_grad_reference, layernorm_grad_cases}};
}

}  // namespace trireme
