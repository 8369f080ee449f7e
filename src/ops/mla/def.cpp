// Definitions of mla_qkv, mla_values and their gradients.
#include <stdexcept>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/mla/mla.h"
#include "ops/shape_rule.h"

namespace trireme {

void mla_qkv_reference(const OpSig& sig, const Operands& operands);
void mla_qkv_grad_reference(const OpSig& sig, const Operands& operands);
void mla_values_reference(const OpSig& sig, const Operands& operands);
void mla_values_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> mla_qkv_cases();
std::vector<OpCase> mla_qkv_grad_cases();
std::vector<OpCase> mla_values_cases();
std::vector<OpCase> mla_values_grad_cases();

namespace {

// The operands of mla_qkv by their width.
struct QkvTypes {
  TensorType q, kv, k_rope, qkv;
};

// `model` gives dtype, B and T.
QkvTypes qkv_types(const MlaQkvAttrs& attrs, const TensorType& model) {
  const auto wide = [&](int64_t width) {
    return TensorType{model.dtype, {model.shape[0], model.shape[1], width}};
  };
  const int64_t heads = attrs.rope.heads;
  return {wide(heads * attrs.head_dim()), wide(heads * (attrs.nope_dim + attrs.v_dim)),
          wide(attrs.rope.head_dim), wide(3 * heads * attrs.head_dim())};
}

void expect_activation(std::string_view op, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && in[0].shape.size() == 3, op,
               "activations are f32 or bf16 [B,T,...]", in);
}

void expect_head(std::string_view op, const MlaQkvAttrs& attrs, std::span<const TensorType> in) {
  expect_activation(op, in);
  expect_types(attrs.rope.heads > 0 && attrs.nope_dim > 0 && attrs.rope.head_dim > 0 &&
                   attrs.rope.head_dim % 2 == 0 && attrs.v_dim > 0 && attrs.v_dim <= attrs.head_dim(),
               op, "heads and dims are positive, rope's even, v_dim at most nope_dim + head_dim", in);
}

void expect_positions(std::string_view op, const TensorType& positions, std::span<const TensorType> in) {
  const TensorType wanted{DType::i32, {in[0].shape[0], in[0].shape[1]}};
  expect_types(!present(positions) || positions == wanted, op, "positions are i32[B,T]", in);
}

std::vector<TensorType> infer_qkv(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(packed);
  expect_head("mla_qkv", attrs, in);
  const QkvTypes types = qkv_types(attrs, in[0]);
  expect_types(in[0] == types.q && in[1] == types.kv && in[2] == types.k_rope, "mla_qkv",
               "q is [B,T,H*D], kv [B,T,H*(dn+dv)], k_rope [B,T,dr]", in);
  expect_positions("mla_qkv", in[3], in);
  return {types.qkv};
}

std::vector<TensorType> infer_qkv_grad(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(packed);
  expect_head("mla_qkv_grad", attrs, in);
  const QkvTypes types = qkv_types(attrs, in[0]);
  expect_types(in[0] == types.qkv, "mla_qkv_grad", "dqkv is [B,T,3*H*D]", in);
  expect_positions("mla_qkv_grad", in[1], in);
  return {types.q, types.kv, types.k_rope};
}

int64_t rows_of(const OpSig& sig) { return sig.inputs[0].shape[0] * sig.inputs[0].shape[1]; }

// Six per rotated pair: H query heads and one key.
Cost cost_qkv(const OpSig& sig) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(sig.attrs);
  Cost cost = traffic(sig);
  cost.flops = rows_of(sig) * (attrs.rope.heads + 1) * attrs.rope.head_dim / 2 * 6;
  return cost;
}

// Likewise, and the sum over the heads. The gradients of the values' padding are not read.
Cost cost_qkv_grad(const OpSig& sig) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(sig.attrs);
  const int64_t heads = attrs.rope.heads, rope = attrs.rope.head_dim;
  Cost cost = traffic(sig);
  cost.bytes_read -= rows_of(sig) * heads * (attrs.head_dim() - attrs.v_dim) * size_of(sig.inputs[0].dtype);
  cost.flops = rows_of(sig) * ((heads + 1) * rope / 2 * 6 + (heads - 1) * rope);
  return cost;
}

// Per thread: cos and sin of one row, for given positions beyond the table (or for the query's and the
// key's).
int64_t scratch_qkv(const OpSig& sig, int threads) {
  if (!present(sig.inputs[3])) return 0;
  return threads * 2 * unpack_attrs<MlaQkvAttrs>(sig.attrs).rope.head_dim * size_of(DType::f32);
}

// Besides, the sum over the heads.
int64_t scratch_qkv_grad(const OpSig& sig, int threads) {
  return threads * 3 * unpack_attrs<MlaQkvAttrs>(sig.attrs).rope.head_dim * size_of(DType::f32);
}

void gradient_qkv(GradientBuilder& builder) {
  const ValueId dqkv = builder.output_grad(0);
  if (!dqkv.valid()) return;
  const auto made = builder.emit({"mla_qkv_grad",
                                  builder.op().attrs,
                                  {dqkv, builder.input(3)},
                                  {},
                                  {"mla_qkv.dq", "mla_qkv.dkv", "mla_qkv.dk_rope"}});
  for (int i = 0; i < 3; ++i) builder.add_input_grad(i, made[static_cast<size_t>(i)]);
}

int64_t heads_per_rank(const PlaceQuery& query, int64_t heads) {
  if (heads % query.ranks != 0)
    throw std::invalid_argument(fmt::format("{}: {} ranks of {} must divide heads = {}", query.op.kind,
                                            query.ranks, name_of(query.axis), heads));
  return heads / query.ranks;
}

// Where heads are cut, each rank has some of them; the shared key is whole on all. Else by rows, and a row
// then needs its position.
Cut place_qkv(const PlaceQuery& query) {
  const Placement heads = shard_of(2);
  if (query.placed[0] != heads && query.placed[1] != heads) return place_by_rows(query);
  auto attrs = unpack_attrs<MlaQkvAttrs>(query.op.attrs);
  attrs.rope.heads = heads_per_rank(query, attrs.rope.heads);
  return {{heads, heads, kReplicate, kReplicate}, {heads}, query.op.kind, pack_attrs(attrs)};
}

OpDef qkv_def() {
  OpDef def;
  def.name = "mla_qkv";
  def.inputs = {{"q"}, {"kv"}, {"k_rope"}, {"positions", OperandDef::Use::optional}};
  def.outputs = {{"qkv"}};
  def.infer = infer_qkv;
  def.cost = cost_qkv;
  def.scratch_bytes = scratch_qkv;
  def.gradient = gradient_qkv;
  def.reduction = [](const OpSig&) { return int64_t{2}; };
  def.place = place_qkv;
  return def;
}

OpDef qkv_grad_def() {
  OpDef def;
  def.name = "mla_qkv_grad";
  def.inputs = {{"dqkv"}, {"positions", OperandDef::Use::optional}};
  def.outputs = {{"dq"}, {"dkv"}, {"dk_rope"}};
  def.infer = infer_qkv_grad;
  def.cost = cost_qkv_grad;
  def.scratch_bytes = scratch_qkv_grad;
  def.reduction = [](const OpSig& sig) { return 2 + unpack_attrs<MlaQkvAttrs>(sig.attrs).rope.heads; };
  return def;
}

// mla_values

TensorType headed(const TensorType& model, int64_t heads, int64_t dim) {
  return {model.dtype, {model.shape[0], model.shape[1], heads * dim}};
}

std::vector<TensorType> infer_values(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(packed);
  expect_activation("mla_values", in);
  expect_types(attrs.v_dim > 0 && attrs.v_dim <= attrs.head_dim, "mla_values",
               "v_dim is positive and at most head_dim", in);
  expect_types(in[0] == headed(in[0], attrs.heads, attrs.head_dim), "mla_values", "y is [B,T,H*D]", in);
  return {headed(in[0], attrs.heads, attrs.v_dim)};
}

std::vector<TensorType> infer_values_grad(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(packed);
  expect_activation("mla_values_grad", in);
  expect_types(attrs.v_dim > 0 && attrs.v_dim <= attrs.head_dim, "mla_values_grad",
               "v_dim is positive and at most head_dim", in);
  expect_types(in[0] == headed(in[0], attrs.heads, attrs.v_dim), "mla_values_grad", "dy is [B,T,H*dv]", in);
  return {headed(in[0], attrs.heads, attrs.head_dim)};
}

// A copy: what is written is what is read.
Cost cost_values(const OpSig& sig) {
  return {.flops = 0, .bytes_read = bytes_of(sig.outputs[0]), .bytes_written = bytes_of(sig.outputs[0])};
}

void gradient_values(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const auto dx = builder.emit({"mla_values_grad", builder.op().attrs, {dy}, {}, {"mla_values.dx"}});
  builder.add_input_grad(0, dx[0]);
}

Cut place_values(const PlaceQuery& query) {
  if (query.placed[0] != shard_of(2)) return place_by_rows(query);
  auto attrs = unpack_attrs<MlaValuesAttrs>(query.op.attrs);
  attrs.heads = heads_per_rank(query, attrs.heads);
  return {{shard_of(2)}, {shard_of(2)}, query.op.kind, pack_attrs(attrs)};
}

OpDef values_def() {
  OpDef def;
  def.name = "mla_values";
  def.inputs = {{"y"}};
  def.outputs = {{"values"}};
  def.infer = infer_values;
  def.cost = cost_values;
  def.gradient = gradient_values;
  def.reduction = [](const OpSig&) { return int64_t{1}; };
  def.place = place_values;
  return def;
}

OpDef values_grad_def() {
  OpDef def;
  def.name = "mla_values_grad";
  def.inputs = {{"dy"}};
  def.outputs = {{"dx"}};
  def.infer = infer_values_grad;
  def.cost = [](const OpSig& sig) { return traffic(sig); };
  def.reduction = [](const OpSig&) { return int64_t{1}; };
  return def;
}

}  // namespace

std::vector<OpEntry> mla_ops() {
  return {{qkv_def(), mla_qkv_reference, mla_qkv_cases},
          {qkv_grad_def(), mla_qkv_grad_reference, mla_qkv_grad_cases},
          {values_def(), mla_values_reference, mla_values_cases},
          {values_grad_def(), mla_values_grad_reference, mla_values_grad_cases}};
}

}  // namespace trireme
