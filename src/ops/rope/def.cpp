// Definition of rope, which is its own gradient.
#include <stdexcept>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/rope/rope.h"
#include "ops/shape_rule.h"

namespace trireme {

void rope_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> rope_cases();

namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view w : words)
    if (w == word) return true;
  return false;
}

std::vector<TensorType> infer(const Attrs& packed, std::span<const TensorType> in) {
  const auto attrs = unpack_attrs<RopeAttrs>(packed);
  const TensorType& x = in[0];
  expect_types(attrs.head_dim > 0 && attrs.head_dim % 2 == 0, "rope", "head_dim is even", in);
  expect_types(attrs.scaling != "ntk" || attrs.head_dim > 2, "rope", "ntk scaling needs head_dim > 2", in);
  expect_types(one_of(attrs.layout, {"half", "interleaved"}), "rope", "layout is half or interleaved", in);
  expect_types(one_of(attrs.scaling, {"none", "linear", "ntk", "yarn", "llama3"}), "rope",
               "scaling is none, linear, ntk, yarn or llama3", in);
  expect_types(is_compute(x.dtype) && x.shape.size() == 3 &&
                   x.shape[2] == (attrs.heads + 2 * attrs.kv_heads) * attrs.head_dim,
               "rope", "x is [B,T,(H+2K)*D]", in);
  expect_types(!present(in[1]) || (in[1].dtype == DType::i32 && in[1].shape == Shape{x.shape[0], x.shape[1]}),
               "rope", "positions are i32[B,T]", in);
  return {x};
}

// Four products and two sums per pair. The bytes count v, which is only moved where x and y differ.
Cost cost(const OpSig& sig) {
  const auto attrs = unpack_attrs<RopeAttrs>(sig.attrs);
  const Shape& shape = sig.inputs[0].shape;
  Cost cost = traffic(sig);
  cost.flops = shape[0] * shape[1] * (attrs.heads + attrs.kv_heads) * attrs.head_dim / 2 * 6;
  return cost;
}

// One row of the table of cos and sin per thread, for given positions beyond the table.
int64_t scratch_bytes(const OpSig& sig, int threads) {
  if (!present(sig.inputs[1])) return 0;
  return threads * 2 * unpack_attrs<RopeAttrs>(sig.attrs).head_dim * size_of(DType::f32);
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid() || !builder.wants_grad(0)) return;
  auto attrs = unpack_attrs<RopeAttrs>(builder.op().attrs);
  attrs.inverse = 1 - attrs.inverse;
  const auto dx = builder.emit({"rope", pack_attrs(attrs), {dy, builder.input(1)}, {}, {"rope.dx"}});
  builder.add_input_grad(0, dx[0]);
}

// On tp by heads. On cp a row does not know its position by its index.
Cut place(const PlaceQuery& query) {
  if (query.axis == BlockAxis::cp && !present(query.inputs[1]))
    throw std::invalid_argument("rope over a cut sequence needs positions");
  if (query.axis != BlockAxis::tp || query.placed[0] != shard_of(2)) return place_by_rows(query);
  auto attrs = unpack_attrs<RopeAttrs>(query.op.attrs);
  attrs.heads /= query.ranks;
  attrs.kv_heads /= query.ranks;
  return {{shard_of(2), kReplicate}, {shard_of(2)}, "rope", pack_attrs(attrs)};
}

}  // namespace

std::vector<OpEntry> rope_ops() {
  OpDef rope;
  rope.name = "rope";
  rope.inputs = {{"x"}, {"positions", OperandDef::Use::optional}};
  rope.outputs = {{"y"}};
  rope.infer = infer;
  rope.cost = cost;
  rope.scratch_bytes = scratch_bytes;
  rope.gradient = gradient;
  rope.place = place;
  rope.reduction = [](const OpSig&) { return int64_t{2}; };
  rope.in_place = {{0, 0}};
  return {{rope, rope_reference, rope_cases}};
}

}  // namespace trireme
