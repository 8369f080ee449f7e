// The oracles: attention as the formula says, a query at a time, in f32.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.h"

namespace trireme {
namespace {

// softcap(scale * q.k), and its derivative with respect to scale * q.k.
struct Score {
  float value = 0.0f;
  float slope = 1.0f;
};

Score score(const AttentionAttrs& a, const float* q, const float* k) {
  float dot = 0.0f;
  for (int64_t d = 0; d < a.head_dim; ++d) dot += q[d] * k[d];
  const float x = dot * static_cast<float>(score_scale(a));
  if (a.softcap == 0.0) return {x, 1.0f};
  const float cap = static_cast<float>(a.softcap), t = std::tanh(x / cap);
  return {cap * t, 1.0f - t * t};
}

int64_t first_key(const AttentionAttrs& a, int64_t t, int64_t doc_start) {
  return std::max<int64_t>({0, doc_start, a.window > 0 ? t - a.window + 1 : 0});
}

// Attends from one query to the keys [first, last]; k(s) and v(s) give rows. Returns the log-sum-exp.
template <class Rows>
float attend(const AttentionAttrs& a, const float* q, int64_t first, int64_t last, const Rows& k,
             const Rows& v, float* y) {
  float top = -INFINITY, sum = 0.0f;
  for (int64_t s = first; s <= last; ++s) top = std::max(top, score(a, q, k(s)).value);
  std::fill(y, y + a.head_dim, 0.0f);
  for (int64_t s = first; s <= last; ++s) {
    const float p = std::exp(score(a, q, k(s)).value - top);
    sum += p;
    for (int64_t d = 0; d < a.head_dim; ++d) y[d] += p * v(s)[d];
  }
  for (int64_t d = 0; d < a.head_dim; ++d) y[d] /= sum;
  return top + std::log(sum);
}

struct Strided {
  const float* base = nullptr;
  int64_t stride = 0;
  const float* operator()(int64_t s) const { return base + s * stride; }
};

}  // namespace

void attention_reference(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<AttentionAttrs>(sig.attrs);
  const int64_t B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  const auto* doc_start = operands.in<int32_t>(1);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < a.heads; ++h) {
      const float* rows = operands.in<float>(0) + b * T * W;
      const int64_t kv = h / (a.heads / a.kv_heads);
      const Strided k{rows + (a.heads + kv) * D, W}, v{rows + (a.heads + a.kv_heads + kv) * D, W};
      for (int64_t t = 0; t < T; ++t) {
        const int64_t first = first_key(a, t, doc_start != nullptr ? doc_start[b * T + t] : 0);
        float* y = operands.out<float>(0) + ((b * T + t) * a.heads + h) * D;
        operands.out<float>(1)[(b * a.heads + h) * T + t] =
            attend(a, rows + t * W + h * D, first, t, k, v, y);
      }
    }
}

// With P = exp(score - lse), dP = dy.v and delta = dy.y: dv += P dy, dscore = P (dP - delta)
// (FlashAttention-2, algorithm 2).
void attention_grad_reference(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<AttentionAttrs>(sig.attrs);
  const int64_t B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  const auto* doc_start = operands.in<int32_t>(4);
  const float scale = static_cast<float>(score_scale(a));
  std::fill(operands.out<float>(0), operands.out<float>(0) + B * T * W, 0.0f);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t t = 0; t < T; ++t) {
        const float* rows = operands.in<float>(0) + b * T * W;
        float* grads = operands.out<float>(0) + b * T * W;
        const int64_t q = t * W + h * D, kv = h / (a.heads / a.kv_heads);
        const float* y = operands.in<float>(1) + ((b * T + t) * a.heads + h) * D;
        const float* dy = operands.in<float>(3) + ((b * T + t) * a.heads + h) * D;
        float delta = 0.0f;
        for (int64_t d = 0; d < D; ++d) delta += dy[d] * y[d];
        for (int64_t s = first_key(a, t, doc_start != nullptr ? doc_start[b * T + t] : 0); s <= t; ++s) {
          const int64_t k = s * W + (a.heads + kv) * D, v = k + a.kv_heads * D;
          const Score x = score(a, rows + q, rows + k);
          const float p = std::exp(x.value - operands.in<float>(2)[(b * a.heads + h) * T + t]);
          float dp = 0.0f;
          for (int64_t d = 0; d < D; ++d) dp += dy[d] * rows[v + d];
          const float ds = p * (dp - delta) * x.slope * scale;
          for (int64_t d = 0; d < D; ++d) {
            grads[v + d] += p * dy[d];
            grads[q + d] += ds * rows[k + d];
            grads[k + d] += ds * rows[q + d];
          }
        }
      }
}

void cached_attention_reference(const OpSig& sig, const Operands& operands) {
  const auto c = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  const AttentionAttrs& a = c.attention;
  const int64_t B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  const int64_t row = a.kv_heads * D, length = operands.in<int32_t>(1)[0];
  CHECK(length >= 0 && length + T <= c.context, "length {} + {} rows, context {}", length, T, c.context);
  for (int64_t b = 0; b < B; ++b) {
    const float* rows = operands.in<float>(0) + b * T * W;
    float* k_cache = operands.out<float>(1) + b * c.context * row;
    float* v_cache = operands.out<float>(2) + b * c.context * row;
    for (int64_t t = 0; t < T; ++t) {
      const float* k = rows + t * W + a.heads * D;
      std::copy(k, k + row, k_cache + (length + t) * row);
      std::copy(k + row, k + 2 * row, v_cache + (length + t) * row);
    }
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t t = 0; t < T; ++t) {
        const int64_t kv = h / (a.heads / a.kv_heads), last = length + t;
        const Strided k{k_cache + kv * D, row}, v{v_cache + kv * D, row};
        attend(a, rows + t * W + h * D, first_key(a, last, 0), last, k, v,
               operands.out<float>(0) + ((b * T + t) * a.heads + h) * D);
      }
  }
}

}  // namespace trireme
