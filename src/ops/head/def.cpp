// The loss head: forward alone, forward with its gradient, and the logits of the last position.
#include <algorithm>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/head/head.h"
#include "ops/head/row_part.h"
#include "ops/linear/linear.h"
#include "ops/shape_rule.h"

namespace trireme {

int64_t head_logits_bytes(int64_t chunk_rows, int64_t vocab, DType dtype) {
  return (chunk_rows * vocab * size_of(dtype) + 63) / 64 * 64;
}

int64_t head_parts_bytes(const HeadLossAttrs& attrs, int64_t chunk_rows) {
  if (attrs.on.ranks == 1 && attrs.padding == 0) return 0;
  return (attrs.on.ranks * chunk_rows * static_cast<int64_t>(sizeof(HeadRowPart)) + 63) / 64 * 64;
}

int64_t head_chunk_rows(int64_t rows, int64_t vocab, DType dtype) {
  // Every chunk reads and writes the whole f32 gradient of the weight once, so few chunks are fast ones.
  constexpr int64_t kChunkBytes = int64_t{104} << 20;
  const int64_t fitting = std::max<int64_t>(32, kChunkBytes / (vocab * size_of(dtype)) / 32 * 32);
  const int64_t chunks = (rows + fitting - 1) / fitting;
  return std::min(rows, ((rows + chunks - 1) / chunks + 31) / 32 * 32);
}

namespace {

// Shape rules

void expect_head(const char* op, int64_t vocab, int64_t width, std::span<const TensorType> inputs) {
  const LinearAttrs linear{.in = width, .out = vocab};
  const TensorType &x = inputs[0], &weight = inputs[1];
  expect_types(is_compute(x.dtype) && x.shape.size() == 3 && x.shape[2] == width, op, "x must be [B,T,width]",
               inputs);
  expect_types(weight.dtype == x.dtype && is_weight(weight, linear, "forward"), op,
               "the weight must be [vocab,width] or packed for forward, of x's dtype", inputs);
}

void expect_targets(const char* op, std::span<const TensorType> inputs, const TensorType& targets) {
  const Shape& x = inputs[0].shape;
  expect_types(targets == TensorType{DType::i32, {x[0], x[1]}}, op, "the targets must be i32[B,T]", inputs);
}

void expect_cut(const char* op, const HeadLossAttrs& a, std::span<const TensorType> inputs) {
  expect_axis(op, a.on, inputs);
  expect_types(a.padding >= 0 && a.padding <= a.vocab && (a.on.rank > 0 || a.padding < a.vocab), op,
               "padding must be rows of the weight, and not all of them", inputs);
}

std::vector<TensorType> infer_loss(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<HeadLossAttrs>(attrs);
  expect_head("head_loss", a.vocab, a.width, inputs);
  expect_cut("head_loss", a, inputs);
  expect_targets("head_loss", inputs, inputs[2]);
  return {{DType::f64, {2}}, {DType::f32, inputs[2].shape}};
}

std::vector<TensorType> infer_loss_grad(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<HeadLossAttrs>(attrs);
  expect_head("head_loss_grad", a.vocab, a.width, inputs);
  expect_types(inputs[2].dtype == inputs[0].dtype &&
                   is_weight(inputs[2], {.in = a.width, .out = a.vocab}, "input_grad"),
               "head_loss_grad",
               "the second weight must be [vocab,width] or packed for input_grad, of x's dtype", inputs);
  expect_cut("head_loss_grad", a, inputs);
  expect_targets("head_loss_grad", inputs, inputs[3]);
  return {{DType::f64, {2}}, {DType::f32, inputs[3].shape}, inputs[0], {DType::f32, {a.vocab, a.width}}};
}

std::vector<TensorType> infer_logits(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<HeadLogitsAttrs>(attrs);
  expect_head("head_logits", a.vocab, a.width, inputs);
  return {{DType::f32, {inputs[0].shape[0], a.vocab}}};
}

// Costs. Per logit: 4 flops of softmax (subtract, exp, add, multiply), 2 more with softcap, 1 for its
// gradient.

int64_t rows_of(const OpSig& sig) { return sig.inputs[0].shape[0] * sig.inputs[0].shape[1]; }

// A packed weight has padding, which the mathematics does not read.
Cost head_traffic(const OpSig& sig, int weights, int64_t vocab, int64_t width) {
  Cost cost = traffic(sig);
  for (int i = 1; i <= weights; ++i)
    cost.bytes_read +=
        vocab * width * size_of(sig.inputs[0].dtype) - bytes_of(sig.inputs[static_cast<size_t>(i)]);
  return cost;
}

Cost cost_loss(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  Cost cost = head_traffic(sig, 1, a.vocab, a.width);
  cost.flops = rows_of(sig) * (a.vocab - a.padding) * (2 * a.width + 3 + (a.softcap != 0.0 ? 2 : 0));
  return cost;
}

Cost cost_loss_grad(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  Cost cost = head_traffic(sig, 2, a.vocab, a.width);
  cost.bytes_read += bytes_of(sig.outputs[3]);  // the accumulator
  cost.flops = rows_of(sig) * (a.vocab - a.padding) * (6 * a.width + 4 + (a.softcap != 0.0 ? 5 : 0));
  return cost;
}

Cost cost_logits(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLogitsAttrs>(sig.attrs);
  const int64_t batch = sig.inputs[0].shape[0];
  Cost cost = head_traffic(sig, 1, a.vocab, a.width);
  // Of x, one row per sequence.
  cost.bytes_read += (batch - rows_of(sig)) * a.width * size_of(sig.inputs[0].dtype);
  cost.flops = batch * a.vocab * (2 * a.width + (a.softcap != 0.0 ? 3 : 0));
  return cost;
}

// All rows' parts go to all other ranks.
int64_t wire_loss(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  return (a.on.ranks - 1) * rows_of(sig) * static_cast<int64_t>(sizeof(HeadRowPart));
}

// Scratch: z-loss terms of all rows, a chunk's logits and parts, the products' own.

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int64_t scratch_loss(const OpSig& sig, int threads) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  const DType dtype = sig.inputs[0].dtype;
  const int64_t rows = rows_of(sig), chunk = head_chunk_rows(rows, a.vocab, dtype);
  const int64_t product = std::max(product_scratch_bytes(std::max(a.width, a.vocab), threads),
                                   weight_gradient_scratch_bytes(chunk, a.width, dtype, threads));
  const int64_t ids = a.further_weight != 0.0 ? aligned(rows * 4) : 0;  // of the targets
  return aligned(rows * 4) + ids + head_logits_bytes(chunk, a.vocab, dtype) + head_parts_bytes(a, chunk) +
         product;
}

int64_t scratch_logits(const OpSig& sig, int threads) {
  const auto a = unpack_attrs<HeadLogitsAttrs>(sig.attrs);
  return product_scratch_bytes(a.width, threads);
}

// Gradient: the loss is the end of the graph, so its gradient is computed along with it, in the forward list.

void gradient(GradientBuilder& builder) {
  const Op op = builder.op();
  const std::vector<ValueId> made =
      builder.replace_forward({.kind = "head_loss_grad",
                               .attrs = op.attrs,
                               .inputs = {op.inputs[0], op.inputs[1], op.inputs[1], op.inputs[2]},
                               .outputs = {op.outputs[0], op.outputs[1], ValueId(), builder.param_grad(1)},
                               .names = {"", "", "dx", ""}});
  builder.add_input_grad(0, made[2]);
}

// A weight cut by its rows: see head.h. Else rows stay where they are, and the loss is the sum over all of
// them.
Cut place(const PlaceQuery& query) {
  if (query.placed[1] == shard_of(0)) {
    auto a = unpack_attrs<HeadLossAttrs>(query.op.attrs);
    const int64_t whole = a.vocab - a.padding;
    a.vocab = (whole + query.ranks - 1) / query.ranks;
    a.padding = std::clamp<int64_t>((query.rank + 1) * a.vocab - whole, 0, a.vocab);
    a.on = axis_attrs(query);
    Cut cut = keep_op(query, {kReplicate, shard_of(0), kReplicate}, kReplicate);
    cut.attrs = pack_attrs(a);
    return cut;
  }
  Placement rows = query.placed[0];
  if (rows.kind == Placement::Kind::partial || rows == shard_of(2)) rows = query.home;
  Cut cut = keep_op(query, {rows, kReplicate, rows}, rows);
  if (rows != kReplicate) cut.outputs[0] = kPartial;
  return cut;
}

// A product, the softmax over its results, and sums over those: the errors of all three add up.
int64_t reduction_loss(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  return a.width + a.vocab + rows_of(sig);
}
int64_t reduction_logits(const OpSig& sig) { return unpack_attrs<HeadLogitsAttrs>(sig.attrs).width; }

OpDef loss_def() {
  OpDef def;
  def.name = "head_loss";
  def.inputs = {{"x"}, {"weight"}, {"targets"}};
  def.outputs = {{"loss"}, {"nll"}};
  def.infer = infer_loss;
  def.cost = cost_loss;
  def.scratch_bytes = scratch_loss;
  def.gradient = gradient;
  def.reduction = reduction_loss;
  def.place = place;
  def.wire_bytes = wire_loss;
  return def;
}

OpDef loss_grad_def() {
  OpDef def;
  def.name = "head_loss_grad";
  def.inputs = {{"x"}, {"weight_forward"}, {"weight_input_grad"}, {"targets"}};
  def.outputs = {{"loss"}, {"nll"}, {"dx"}, {"dweight", OperandDef::Use::accumulate}};
  def.infer = infer_loss_grad;
  def.cost = cost_loss_grad;
  def.scratch_bytes = scratch_loss;
  def.reduction = reduction_loss;
  def.wire_bytes = wire_loss;
  return def;
}

OpDef logits_def() {
  OpDef def;
  def.name = "head_logits";
  def.inputs = {{"x"}, {"weight"}};
  def.outputs = {{"logits"}};
  def.infer = infer_logits;
  def.cost = cost_logits;
  def.scratch_bytes = scratch_logits;
  def.reduction = reduction_logits;
  return def;
}

}  // namespace

void reference_head_loss(const OpSig& sig, const Operands& operands);
void reference_head_loss_grad(const OpSig& sig, const Operands& operands);
void reference_head_logits(const OpSig& sig, const Operands& operands);
std::vector<OpCase> head_loss_cases();
std::vector<OpCase> head_loss_grad_cases();
std::vector<OpCase> head_logits_cases();

std::vector<OpEntry> head_ops() {
  return {{loss_def(), reference_head_loss, head_loss_cases},
          {loss_grad_def(), reference_head_loss_grad, head_loss_grad_cases},
          {logits_def(), reference_head_logits, head_logits_cases}};
}

}  // namespace trireme
