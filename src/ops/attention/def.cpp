// attention, attention_grad and cached_attention: shapes, costs, scratch and the gradient rule.
// context_def.cpp adds those of attention over the context axis.
#include <cmath>

#include "ops/attention/context.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

int64_t qkv_width(const AttentionAttrs& attrs) { return (attrs.heads + 2 * attrs.kv_heads) * attrs.head_dim; }

double score_scale(const AttentionAttrs& attrs) {
  return attrs.scale != 0.0 ? attrs.scale : 1.0 / std::sqrt(static_cast<double>(attrs.head_dim));
}

int64_t visible_pairs(int64_t rows, int64_t before, int64_t window) {
  const auto up_to = [&](int64_t n) {  // pairs of the first n positions
    if (window <= 0 || n <= window) return n * (n + 1) / 2;
    return window * (window + 1) / 2 + (n - window) * window;
  };
  return up_to(before + rows) - up_to(before);
}

namespace {

void check_heads(const char* op, const AttentionAttrs& a, std::span<const TensorType> inputs) {
  if (a.heads < 1 || a.kv_heads < 1 || a.head_dim < 1 || a.heads % a.kv_heads != 0)
    refuse_types(
        op,
        fmt::format("heads = {}, kv_heads = {}, head_dim = {} must be positive and kv_heads divide heads",
                    a.heads, a.kv_heads, a.head_dim),
        inputs);
  if (a.window < 0 || a.softcap < 0.0)
    refuse_types(op, fmt::format("window = {} and softcap = {} must not be negative", a.window, a.softcap),
                 inputs);
}

void check_qkv(const char* op, const AttentionAttrs& a, std::span<const TensorType> inputs) {
  check_heads(op, a, inputs);
  const TensorType& qkv = inputs[0];
  if (qkv.shape.size() != 3 || qkv.shape[2] != qkv_width(a))
    refuse_types(op, fmt::format("qkv must be [B,T,{}]", qkv_width(a)), inputs);
  if (qkv.dtype != DType::f32 && qkv.dtype != DType::bf16)
    refuse_types(op, "qkv must be f32 or bf16", inputs);
}

void check_doc_start(const char* op, const TensorType& doc_start, std::span<const TensorType> inputs) {
  const Shape rows = {inputs[0].shape[0], inputs[0].shape[1]};
  if (present(doc_start) && doc_start != TensorType{DType::i32, rows})
    refuse_types(op, fmt::format("doc_start must be i32[{}]", to_string(rows)), inputs);
}

TensorType y_type(const AttentionAttrs& a, const TensorType& qkv) {
  return {qkv.dtype, {qkv.shape[0], qkv.shape[1], a.heads * a.head_dim}};
}

TensorType lse_type(const AttentionAttrs& a, const TensorType& qkv) {
  return {DType::f32, {qkv.shape[0], a.heads, qkv.shape[1]}};
}

std::vector<TensorType> infer_attention(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<AttentionAttrs>(attrs);
  check_qkv("attention", a, inputs);
  check_doc_start("attention", inputs[1], inputs);
  return {y_type(a, inputs[0]), lse_type(a, inputs[0])};
}

std::vector<TensorType> infer_attention_grad(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<AttentionAttrs>(attrs);
  check_qkv("attention_grad", a, inputs);
  const TensorType y = y_type(a, inputs[0]);
  if (inputs[1] != y || inputs[3] != y)
    refuse_types("attention_grad", fmt::format("y and dy must be {}", to_string(y)), inputs);
  if (inputs[2] != lse_type(a, inputs[0]))
    refuse_types("attention_grad", fmt::format("lse must be {}", to_string(lse_type(a, inputs[0]))), inputs);
  check_doc_start("attention_grad", inputs[4], inputs);
  return {inputs[0]};
}

std::vector<TensorType> infer_cached_attention(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<CachedAttentionAttrs>(attrs);
  check_qkv("cached_attention", a.attention, inputs);
  if (inputs[1] != TensorType{DType::i32, {1}})
    refuse_types("cached_attention", "length must be i32[1]", inputs);
  const TensorType& qkv = inputs[0];
  if (qkv.shape[1] > a.context)
    refuse_types("cached_attention", fmt::format("more rows than context = {}", a.context), inputs);
  const TensorType cache = {qkv.dtype,
                            {qkv.shape[0], a.context, a.attention.kv_heads * a.attention.head_dim}};
  return {y_type(a.attention, qkv), cache, cache};
}

// Products alone; the softmax between them is not counted, and neither are documents, which only the data
// knows.
Cost product_cost(const OpSig& sig, const AttentionAttrs& a, int64_t products) {
  Cost cost = traffic(sig);
  const int64_t B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1];
  cost.flops = 2 * products * B * a.heads * a.head_dim * visible_pairs(T, 0, a.window);
  return cost;
}

Cost cost_attention(const OpSig& sig) {
  return product_cost(sig, unpack_attrs<AttentionAttrs>(sig.attrs), 2);
}

Cost cost_attention_grad(const OpSig& sig) {  // scores again, dP, dV, dK, dQ
  return product_cost(sig, unpack_attrs<AttentionAttrs>(sig.attrs), 5);
}

// With full caches: the length is known at run time only.
Cost cost_cached_attention(const OpSig& sig) {
  const auto a = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  const int64_t B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1];
  Cost cost;
  cost.flops =
      4 * B * a.attention.heads * a.attention.head_dim * visible_pairs(T, a.context - T, a.attention.window);
  const int64_t new_rows = bytes_of(sig.outputs[1]) / a.context * T;  // of each cache
  cost.bytes_read = bytes_of(sig.inputs[0]) + bytes_of(sig.inputs[1]) + 2 * bytes_of(sig.outputs[1]);
  cost.bytes_written = bytes_of(sig.outputs[0]) + 2 * new_rows;
  return cost;
}

int64_t scratch_attention(const OpSig& sig, int threads) {
  const int64_t T = sig.inputs[0].shape[1];
  return threads * flash_forward_slot_bytes(T, T, unpack_attrs<AttentionAttrs>(sig.attrs).head_dim);
}

int64_t scratch_attention_grad(const OpSig& sig, int threads) {
  const int64_t T = sig.inputs[0].shape[1];
  return threads * flash_backward_slot_bytes(T, T, unpack_attrs<AttentionAttrs>(sig.attrs).head_dim);
}

int64_t scratch_cached_attention(const OpSig& sig, int threads) {
  const auto a = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  return threads * cached_slot_bytes(sig.inputs[0].shape[1], a.context, a.attention.head_dim);
}

void gradient_attention(GradientBuilder& builder) {
  if (!builder.wants_grad(0) || !builder.output_grad(0).valid()) return;
  const auto made = builder.emit({.kind = "attention_grad",
                                  .attrs = builder.op().attrs,
                                  .inputs = {builder.input(0), builder.output(0), builder.output(1),
                                             builder.output_grad(0), builder.input(1)},
                                  .outputs = {ValueId{}},
                                  .names = {"dqkv"}});
  builder.add_input_grad(0, made[0]);
}

// A score sums D products, an output T of the weights.
int64_t reduction_attention(const OpSig& sig) {
  return sig.inputs[0].shape[1] + unpack_attrs<AttentionAttrs>(sig.attrs).head_dim;
}

// dK sums over the T queries of every head of its group; each term comes out of sums over D.
int64_t reduction_attention_grad(const OpSig& sig) {
  const auto a = unpack_attrs<AttentionAttrs>(sig.attrs);
  return sig.inputs[0].shape[1] * (a.heads / a.kv_heads) + 2 * a.head_dim;
}

int64_t reduction_cached_attention(const OpSig& sig) {
  const auto a = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  return a.context + a.attention.head_dim;
}

}  // namespace

std::vector<OpEntry> attention_ops() {
  using Use = OperandDef::Use;
  OpEntry forward;
  forward.def = {.name = "attention",
                 .inputs = {{"qkv"}, {"doc_start", Use::optional}},
                 .outputs = {{"y"}, {"lse"}},
                 .infer = infer_attention,
                 .cost = cost_attention,
                 .scratch_bytes = scratch_attention,
                 .gradient = gradient_attention,
                 .reduction = reduction_attention,
                 .place = place_attention};
  forward.reference = attention_reference;
  forward.cases = attention_cases;

  OpEntry backward;
  backward.def = {.name = "attention_grad",
                  .inputs = {{"qkv"}, {"y"}, {"lse"}, {"dy"}, {"doc_start", Use::optional}},
                  .outputs = {{"dqkv"}},
                  .infer = infer_attention_grad,
                  .cost = cost_attention_grad,
                  .scratch_bytes = scratch_attention_grad,
                  .reduction = reduction_attention_grad};
  backward.reference = attention_grad_reference;
  backward.cases = attention_grad_cases;

  OpEntry cached;
  cached.def = {.name = "cached_attention",
                .inputs = {{"qkv"}, {"length"}},
                .outputs = {{"y"}, {"k_cache", Use::update}, {"v_cache", Use::update}},
                .infer = infer_cached_attention,
                .cost = cost_cached_attention,
                .scratch_bytes = scratch_cached_attention,
                .reduction = reduction_cached_attention};
  cached.reference = cached_attention_reference;
  cached.cases = cached_attention_cases;
  std::vector<OpEntry> ops = {forward, backward, cached};
  for (OpEntry& op : context_attention_ops()) ops.push_back(std::move(op));
  return ops;
}

}  // namespace trireme
