// Definitions of add_layernorm and add_rmsnorm: the residual stream's sum and the norm of it in one pass over
// memory. Their gradients are those of the plain norms at x = sum, with the gradient of the sum added.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/layernorm/norm_rules.h"

namespace trireme {

void add_layernorm_reference(const OpSig& sig, const Operands& operands);
void add_rmsnorm_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> add_layernorm_cases();
std::vector<OpCase> add_rmsnorm_cases();

namespace {

// a, b, weight, bias? -> sum, y, mean, rstd
std::vector<TensorType> infer_layer(const Attrs&, std::span<const TensorType> in) {
  expect_types(in[0] == in[1] && is_gain(in[2], in[0]), "add_layernorm",
               "a and b have one type [..,C], weight is [C], in one compute dtype", in);
  expect_types(!present(in[3]) || in[3] == in[2], "add_layernorm", "bias has the weight's type", in);
  return {in[0], in[0], row_statistic(in[0]), row_statistic(in[0])};
}

// a, b, weight -> sum, y, rstd
std::vector<TensorType> infer_rms(const Attrs&, std::span<const TensorType> in) {
  expect_types(in[0] == in[1] && is_gain(in[2], in[0]), "add_rmsnorm",
               "a and b have one type [..,C], weight is [C], in one compute dtype", in);
  return {in[0], in[0], row_statistic(in[0])};
}

void give_to_both(GradientBuilder& builder, ValueId dsum) {
  builder.add_input_grad(0, dsum);
  builder.add_input_grad(1, dsum);
}

void gradient_layer(GradientBuilder& builder) {
  const ValueId dsum = builder.output_grad(0), dy = builder.output_grad(1);
  if (!dy.valid()) {
    if (dsum.valid()) give_to_both(builder, dsum);
    return;
  }
  const ValueId dbias = builder.param_grad(3);
  const auto out = builder.emit(
      {.kind = "layernorm_grad",
       .attrs = pack_attrs(LayernormGradAttrs{dbias.valid() ? 1 : 0}),
       .inputs = {builder.output(0), builder.input(2), builder.output(2), builder.output(3), dy, dsum},
       .outputs = {ValueId(), builder.param_grad(2), dbias},
       .names = {"add_layernorm.dsum", "", ""}});
  give_to_both(builder, out[0]);
}

void gradient_rms(GradientBuilder& builder) {
  const ValueId dsum = builder.output_grad(0), dy = builder.output_grad(1);
  if (!dy.valid()) {
    if (dsum.valid()) give_to_both(builder, dsum);
    return;
  }
  const auto out = builder.emit({.kind = "rmsnorm_grad",
                                 .attrs = {},
                                 .inputs = {builder.output(0), builder.input(2), builder.output(2), dy, dsum},
                                 .outputs = {ValueId(), builder.param_grad(2)},
                                 .names = {"add_rmsnorm.dsum", ""}});
  give_to_both(builder, out[0]);
}

}  // namespace

std::vector<OpEntry> add_norm_ops() {
  OpDef layer;
  layer.name = "add_layernorm";
  layer.inputs = {{"a"}, {"b"}, {"weight"}, {"bias", OperandDef::Use::optional}};
  layer.outputs = {{"sum"}, {"y"}, {"mean"}, {"rstd"}};
  layer.infer = infer_layer;
  layer.cost = [](const OpSig& sig) { return norm_cost(sig, present(sig.inputs[3]) ? 9 : 8); };
  layer.gradient = gradient_layer;
  layer.reduction = norm_reduction;
  layer.in_place = {{0, 0}, {1, 0}};

  OpDef rms;
  rms.name = "add_rmsnorm";
  rms.inputs = {{"a"}, {"b"}, {"weight"}};
  rms.outputs = {{"sum"}, {"y"}, {"rstd"}};
  rms.infer = infer_rms;
  rms.cost = [](const OpSig& sig) { return norm_cost(sig, 5); };
  rms.gradient = gradient_rms;
  rms.reduction = norm_reduction;
  rms.in_place = {{0, 0}, {1, 0}};

  return {{layer, add_layernorm_reference, add_layernorm_cases},
          {rms, add_rmsnorm_reference, add_rmsnorm_cases}};
}

}  // namespace trireme
