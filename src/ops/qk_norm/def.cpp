// Definitions of qk_norm and qk_norm_grad.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/qk_norm/qk_norm.h"
#include "ops/shape_rule.h"

namespace trireme {

void qk_norm_reference(const OpSig& sig, const Operands& operands);
void qk_norm_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> qk_norm_cases();
std::vector<OpCase> qk_norm_grad_cases();

namespace {

void expect_projection(std::string_view op, const QkNormAttrs& attrs, std::span<const TensorType> in) {
  const TensorType& qkv = in[0];
  expect_types(is_compute(qkv.dtype) && qkv.shape.size() == 3 && attrs.head_dim > 0 &&
                   qkv.shape[2] == (attrs.heads + 2 * attrs.kv_heads) * attrs.head_dim,
               op, "qkv is [B,T,(H+2K)*D]", in);
  const TensorType weight{qkv.dtype, {attrs.head_dim}};
  expect_types(in[1] == weight && in[2] == weight, op, "the weights are [D] of qkv's dtype", in);
}

TensorType rstd_type(const QkNormAttrs& attrs, const TensorType& qkv) {
  return {DType::f32, {qkv.shape[0], qkv.shape[1], attrs.heads + attrs.kv_heads}};
}

std::vector<TensorType> infer(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<QkNormAttrs>(packed);
  expect_projection("qk_norm", attrs, in);
  return {in[0], rstd_type(attrs, in[0])};
}

// Elements of the q and k heads.
int64_t normed(const OpSig& sig) {
  const auto attrs = unpack_attrs<QkNormAttrs>(sig.attrs);
  return count(rstd_type(attrs, sig.inputs[0]).shape) * attrs.head_dim;
}

// x^2 and its sum, then two products per element. The bytes count v, which is copied.
Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = 4 * normed(sig);
  return cost;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const auto out =
      builder.emit({"qk_norm_grad",
                    builder.op().attrs,
                    {builder.input(0), builder.input(1), builder.input(2), builder.output(1), dy},
                    {ValueId(), builder.param_grad(1), builder.param_grad(2)},
                    {"qk_norm.dqkv", "", ""}});
  builder.add_input_grad(0, out[0]);
}

// On tp by heads, which share the weights.
Cut place(const PlaceQuery& query) {
  if (query.axis != BlockAxis::tp || query.placed[0] != shard_of(2)) return place_by_rows(query);
  auto attrs = unpack_attrs<QkNormAttrs>(query.op.attrs);
  attrs.heads /= query.ranks;
  attrs.kv_heads /= query.ranks;
  return {{shard_of(2), kReplicate, kReplicate}, {shard_of(2), shard_of(2)}, "qk_norm", pack_attrs(attrs)};
}

std::vector<TensorType> infer_grad(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<QkNormAttrs>(packed);
  expect_projection("qk_norm_grad", attrs, in);
  expect_types(in[3] == rstd_type(attrs, in[0]), "qk_norm_grad", "rstd is f32[B,T,H+K]", in);
  expect_types(in[4] == in[0], "qk_norm_grad", "dy has the type of qkv", in);
  const TensorType dweight{DType::f32, {attrs.head_dim}};
  return {in[0], dweight, dweight};
}

// Per element: x rstd, dy weight, their product and its sum; then two products and a difference; and the
// weight gradient's product and sum.
Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.bytes_read += bytes_of(sig.outputs[1]) + bytes_of(sig.outputs[2]);  // they are added to
  cost.flops = 9 * normed(sig);
  return cost;
}

// Two rows of D per chunk.
int64_t scratch_bytes(const OpSig& sig, int) {
  const int64_t tokens = sig.inputs[0].shape[0] * sig.inputs[0].shape[1];
  const int64_t chunk = qk_norm_chunk_tokens(tokens);
  return (tokens + chunk - 1) / chunk * 2 * sig.inputs[1].shape[0] * size_of(DType::f32);
}

}  // namespace

std::vector<OpEntry> qk_norm_ops() {
  OpDef norm;
  norm.name = "qk_norm";
  norm.inputs = {{"qkv"}, {"weight_q"}, {"weight_k"}};
  norm.outputs = {{"y"}, {"rstd"}};
  norm.infer = infer;
  norm.cost = cost;
  norm.gradient = gradient;
  norm.place = place;
  norm.reduction = [](const OpSig& sig) { return sig.inputs[1].shape[0]; };
  norm.in_place = {{0, 0}};

  OpDef grad;
  grad.name = "qk_norm_grad";
  grad.inputs = {{"qkv"}, {"weight_q"}, {"weight_k"}, {"rstd"}, {"dy"}};
  grad.outputs = {{"dqkv"},
                  {"dweight_q", OperandDef::Use::optional_accumulate},
                  {"dweight_k", OperandDef::Use::optional_accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.scratch_bytes = scratch_bytes;
  // A weight's gradient sums over all tokens and heads.
  grad.reduction = [](const OpSig& sig) { return count(sig.inputs[3].shape) + sig.inputs[1].shape[0]; };
  grad.in_place = {{4, 0}};

  return {{norm, qk_norm_reference, qk_norm_cases}, {grad, qk_norm_grad_reference, qk_norm_grad_cases}};
}

}  // namespace trireme
