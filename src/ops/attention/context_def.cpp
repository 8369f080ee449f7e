// Attention over the context axis: shapes, costs, scratch, bytes on the wire and the gradient rule. Shapes
// are those of `attention` on the rank's rows.
#include "ops/attention/context.h"

#include "ops/attention/context_buffers.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

OpSig ulysses_inner(const OpSig& sig) {
  const ContextSizes s(sig);
  AttentionAttrs heads = s.a.attention;
  heads.heads /= s.n, heads.kv_heads /= s.n;
  const DType dtype = sig.inputs[0].dtype;
  const int64_t T = s.n * s.T;
  const TensorType y{dtype, {1, T, heads.heads * heads.head_dim}}, lse{DType::f32, {1, heads.heads, T}};
  const bool grad = sig.inputs.size() == 5;
  const TensorType docs = present(sig.inputs.back()) ? TensorType{DType::i32, {1, T}} : absent_type();
  OpSig inner{
      grad ? "attention_grad" : "attention", pack_attrs(heads), {{dtype, {1, T, qkv_width(heads)}}}, {}};
  if (grad) inner.inputs.insert(inner.inputs.end(), {y, lse, y});
  inner.inputs.push_back(docs);
  inner.outputs = op_def(inner.kind).infer(inner.attrs, inner.inputs);
  return inner;
}

namespace {

// Upper bound of a kernel's scratch.
template <class Buffers, int64_t (*carve)(Buffers& buffers, void* base, const OpSig& sig, int threads)>
int64_t scratch_of(const OpSig& sig, int threads) {
  Buffers buffers;
  return carve(buffers, nullptr, sig, threads);
}

ContextAttrs checked(const Attrs& attrs, std::span<const TensorType> inputs, const char* op) {
  const auto a = unpack_attrs<ContextAttrs>(attrs);
  expect_axis(op, a.at, inputs);
  if ((a.at.ranks > 1) == a.at.axis.empty())
    refuse_types(op, fmt::format("axis = \"{}\" for {} ranks", a.at.axis, a.at.ranks), inputs);
  return a;
}

// Of ring and gather, whose types are those of `plain`.
std::vector<TensorType> infer_zigzag(std::string_view plain, const Attrs& attrs,
                                     std::span<const TensorType> inputs) {
  const ContextAttrs a = checked(attrs, inputs, "context attention");
  std::vector<TensorType> made = op_def(plain).infer(attrs, inputs);
  if (a.at.ranks > 1 && inputs[0].shape[1] % 2 != 0)
    refuse_types("context attention", "a rank's rows must be two chunks of one size", inputs);
  return made;
}

std::vector<TensorType> infer_zigzag_forward(const Attrs& attrs, std::span<const TensorType> inputs) {
  return infer_zigzag("attention", attrs, inputs);
}
std::vector<TensorType> infer_zigzag_grad(const Attrs& attrs, std::span<const TensorType> inputs) {
  return infer_zigzag("attention_grad", attrs, inputs);
}

void check_head_slices(const ContextAttrs& a, std::span<const TensorType> inputs) {
  if (a.attention.heads % a.at.ranks != 0 || a.attention.kv_heads % a.at.ranks != 0)
    refuse_types("ulysses_attention",
                 fmt::format("ranks = {} must divide heads = {} and kv_heads = {}", a.at.ranks,
                             a.attention.heads, a.attention.kv_heads),
                 inputs);
}

// f32[B,H/n,T] for f32[B,H,T/n].
TensorType by_heads(const TensorType& lse, int64_t ranks) {
  return {lse.dtype, {lse.shape[0], lse.shape[1] / ranks, lse.shape[2] * ranks}};
}

std::vector<TensorType> infer_ulysses(const Attrs& attrs, std::span<const TensorType> inputs) {
  const ContextAttrs a = checked(attrs, inputs, "ulysses_attention");
  std::vector<TensorType> made = op_def("attention").infer(attrs, inputs);
  check_head_slices(a, inputs);
  made[1] = by_heads(made[1], a.at.ranks);
  return made;
}

std::vector<TensorType> infer_ulysses_grad(const Attrs& attrs, std::span<const TensorType> inputs) {
  const ContextAttrs a = checked(attrs, inputs, "ulysses_attention_grad");
  check_head_slices(a, inputs);
  const std::vector<TensorType> forward = {inputs[0], inputs[4]};
  const TensorType lse = op_def("attention").infer(attrs, forward)[1];
  if (inputs[2] != by_heads(lse, a.at.ranks))
    refuse_types("ulysses_attention_grad",
                 fmt::format("lse must be {}", to_string(by_heads(lse, a.at.ranks))), inputs);
  std::vector<TensorType> plain(inputs.begin(), inputs.end());
  plain[2] = lse;
  return op_def("attention_grad").infer(attrs, plain);
}

// An even share of the whole sequence's. With a window zigzag gives ranks of the first chunks somewhat less;
// costs are the same on every rank all the same (ops/op.h).
Cost product_cost(const OpSig& sig, int64_t products) {
  const ContextSizes s(sig);
  Cost cost = traffic(sig);
  const int64_t pairs = visible_pairs(s.n * s.T, 0, s.a.attention.window);
  cost.flops = 2 * products * s.B * s.y_row() * pairs / s.n;
  return cost;
}

Cost cost_forward(const OpSig& sig) { return product_cost(sig, 2); }
Cost cost_backward(const OpSig& sig) { return product_cost(sig, 5); }

// The piece of every rank but one visits every rank, whether by a ring or at once.
int64_t wire_keys(const OpSig& sig) {
  const ContextSizes s(sig);
  return (s.n - 1) * s.kv() * s.element;
}
// A gradient passes all others and comes home.
int64_t wire_ring_grad(const OpSig& sig) {
  const ContextSizes s(sig);
  return wire_keys(sig) + (s.n > 1 ? s.n * s.kv() * 4 : 0);
}
int64_t wire_gather_grad(const OpSig& sig) {
  const ContextSizes s(sig);
  return wire_keys(sig) + (s.n - 1) * s.kv() * 4;
}

int64_t wire_slices(const OpSig& sig, int64_t row_elements) {
  const ContextSizes s(sig);
  const int64_t documents = present(sig.inputs.back()) ? (s.n - 1) * bytes_of(sig.inputs.back()) : 0;
  return documents + (s.n - 1) * (s.B * s.T * row_elements / s.n) * s.element;
}
int64_t wire_ulysses(const OpSig& sig) {  // qkv there, y back
  const ContextSizes s(sig);
  return wire_slices(sig, s.width() + s.y_row());
}
int64_t wire_ulysses_grad(const OpSig& sig) {  // qkv, y and dy there, dqkv back
  const ContextSizes s(sig);
  return wire_slices(sig, 2 * s.width() + 2 * s.y_row());
}

void gradient_context(GradientBuilder& builder) {
  if (!builder.wants_grad(0) || !builder.output_grad(0).valid()) return;
  const auto made = builder.emit({.kind = builder.op().kind + "_grad",
                                  .attrs = builder.op().attrs,
                                  .inputs = {builder.input(0), builder.output(0), builder.output(1),
                                             builder.output_grad(0), builder.input(1)},
                                  .outputs = {ValueId{}},
                                  .names = {"dqkv"}});
  builder.add_input_grad(0, made[0]);
}

// As attention's, of the whole sequence.
int64_t reduction_context(const OpSig& sig) {
  const ContextSizes s(sig);
  return s.n * s.T + s.a.attention.head_dim;
}
int64_t reduction_context_grad(const OpSig& sig) {
  const ContextSizes s(sig);
  const AttentionAttrs& a = s.a.attention;
  return s.n * s.T * (a.heads / a.kv_heads) + 2 * a.head_dim;
}

OpDef forward_def(std::string_view name) {
  return {.name = name,
          .inputs = {{"qkv"}, {"doc_start", OperandDef::Use::optional}},
          .outputs = {{"y"}, {"lse"}},
          .infer = infer_zigzag_forward,
          .cost = cost_forward,
          .gradient = gradient_context,
          .reduction = reduction_context,
          .place = place_whole,
          .wire_bytes = wire_keys};
}

OpDef backward_def(std::string_view name) {
  return {.name = name,
          .inputs = {{"qkv"}, {"y"}, {"lse"}, {"dy"}, {"doc_start", OperandDef::Use::optional}},
          .outputs = {{"dqkv"}},
          .infer = infer_zigzag_grad,
          .cost = cost_backward,
          .reduction = reduction_context_grad,
          .place = place_whole};
}

OpEntry forward_entry(OpDef def, std::vector<OpCase> (*cases)()) {
  return {std::move(def), context_attention_reference, cases};
}
OpEntry backward_entry(OpDef def, std::vector<OpCase> (*cases)()) {
  return {std::move(def), context_attention_grad_reference, cases};
}

}  // namespace

std::vector<OpEntry> context_attention_ops() {
  OpDef gather = forward_def("gather_attention"), gather_grad = backward_def("gather_attention_grad");
  gather.scratch_bytes = scratch_of<GatherBuffers, carve_gather>;
  gather_grad.scratch_bytes = scratch_of<GatherBuffers, carve_gather_grad>;
  gather_grad.wire_bytes = wire_gather_grad;

  OpDef ring = forward_def("ring_attention"), ring_grad = backward_def("ring_attention_grad");
  ring.scratch_bytes = scratch_of<RingBuffers, carve_ring>;
  ring_grad.scratch_bytes = scratch_of<RingBuffers, carve_ring_grad>;
  ring_grad.wire_bytes = wire_ring_grad;

  OpDef ulysses = forward_def("ulysses_attention"), ulysses_grad = backward_def("ulysses_attention_grad");
  ulysses.infer = infer_ulysses;
  ulysses.scratch_bytes = scratch_of<UlyssesBuffers, carve_ulysses>;
  ulysses.wire_bytes = wire_ulysses;
  ulysses_grad.infer = infer_ulysses_grad;
  ulysses_grad.scratch_bytes = scratch_of<UlyssesBuffers, carve_ulysses_grad>;
  ulysses_grad.wire_bytes = wire_ulysses_grad;

  return {
      forward_entry(gather, [] { return context_attention_cases("gather_attention"); }),
      backward_entry(gather_grad, [] { return context_attention_grad_cases("gather_attention_grad"); }),
      forward_entry(ring, [] { return context_attention_cases("ring_attention"); }),
      backward_entry(ring_grad, [] { return context_attention_grad_cases("ring_attention_grad"); }),
      forward_entry(ulysses, [] { return context_attention_cases("ulysses_attention"); }),
      backward_entry(ulysses_grad, [] { return context_attention_grad_cases("ulysses_attention_grad"); })};
}

}  // namespace trireme
