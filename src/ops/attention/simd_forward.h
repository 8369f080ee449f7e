// Flash attention forward in f32 vectors (FlashAttention-2, algorithm 1), for every instruction set. Scores
// are kept transposed, [keys, queries]: a lane is a query, so maxima and sums over keys need no shuffles.
#pragma once
#include "device/cpu/simd_math.h"
#include "ops/attention/flash_span.h"
#include "ops/attention/simd_product.h"

namespace trireme {
namespace {

inline constexpr float kMasked = -1e30f;
inline constexpr float kLowestTop = -1e20f;  // above kMasked, so that a masked score weighs nothing

struct ScoreRule {
  float scale = 1.0f, softcap = 0.0f;
};

TRIREME_SIMD simd::F32x16 cap_score(const ScoreRule& rule, const simd::F32x16& dot) {
  const simd::F32x16 x = dot * simd::splat(rule.scale);
  if (rule.softcap == 0.0f) return x;
  return simd::splat(rule.softcap) * simd::tanh(x / simd::splat(rule.softcap));
}

// All bits set where query lane i may see `key`.
TRIREME_SIMD simd::I32x16 visible(const BlockSpan& span, int64_t lane, int64_t key) {
  const simd::I32x16 k = simd::splat(static_cast<int32_t>(key));
  const simd::I32x16 first = simd::bits_of(simd::load(reinterpret_cast<const float*>(span.first + lane)));
  const simd::I32x16 last = simd::bits_of(simd::load(reinterpret_cast<const float*>(span.last + lane)));
  const simd::I32x16 one = simd::splat(int32_t{1});
  // first <= k <= last; one is taken from the smaller side, since last + 1 overflows for padding.
  return (first - one < k) & (k - one < last);
}

// scores[keys][queries] becomes exp(score - top); top and sum go on; out is rescaled to the new top.
void soften(const ScoreRule& rule, const ForwardBuffers<float>& b, int64_t key_begin, int64_t keys,
            int64_t queries, int64_t D, bool masked) {
  for (int64_t q = 0; q < queries; q += simd::kLanes) {
    float* column = b.scores + q;
    const simd::F32x16 old_top = simd::load(b.top + q);
    simd::F32x16 top = old_top;
    for (int64_t j = 0; j < keys; ++j) {
      simd::F32x16 s = cap_score(rule, simd::load(column + j * queries));
      if (masked) s = simd::select(visible(*b.span, q, key_begin + j), s, simd::splat(kMasked));
      simd::store(column + j * queries, s);
      top = simd::max(s, top);
    }
    const simd::F32x16 fade = simd::exp(old_top - top);
    simd::F32x16 sum = simd::load(b.sum + q) * fade;
    for (int64_t j = 0; j < keys; ++j) {
      const simd::F32x16 weight = simd::exp(simd::load(column + j * queries) - top);
      simd::store(column + j * queries, weight);
      sum += weight;
    }
    simd::store(b.top + q, top);
    simd::store(b.sum + q, sum);
    for (int64_t d = 0; d < D; ++d) {
      float* out = b.out + d * queries + q;
      simd::store(out, simd::load(out) * fade);
    }
  }
}

// What a query's earlier keys gave counts `keep`, what these give counts `part`.
struct Mix {
  float lse = -__builtin_inff(), keep = 0.0f, part = 0.0f;
};
inline Mix mix(float old_lse, float new_lse) {
  const float top = old_lse > new_lse ? old_lse : new_lse;
  if (top == -__builtin_inff()) return {};
  const float keep = __builtin_expf(old_lse - top), part = __builtin_expf(new_lse - top), sum = keep + part;
  return {top + __builtin_logf(sum), keep / sum, part / sum};
}

template <class T>
void write_block(const FlashForward<T>& task, int64_t head, int64_t begin, int64_t queries,
                 const ForwardBuffers<float>& b) {
  const int64_t rows = smaller(queries, task.query_end - begin), D = task.in.head_dim;
  for (int64_t i = 0; i < rows; ++i) {
    const float sum = b.sum[i], inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    const float lse = sum > 0.0f ? b.top[i] + __builtin_logf(sum) : -__builtin_inff();
    const int64_t at = (begin + i) * task.y_row + head * task.y_head;
    float* to = task.lse != nullptr ? task.lse + head * task.lse_head + begin + i : nullptr;
    if (task.y_sum != nullptr) {
      const Mix m = mix(*to, lse);
      mix_column(b.out + i, queries, D, inverse * m.part, m.keep, task.y_sum + at);
      *to = m.lse;
      continue;
    }
    narrow_column(b.out + i, queries, D, inverse, task.y + at);
    if (to != nullptr) *to = lse;
  }
}

template <class T>
void forward_block(const FlashForward<T>& task, int64_t head, int64_t begin, const ForwardBuffers<float>& b) {
  const FlashInputs<T>& in = task.in;
  const int64_t D = pad32(in.head_dim), rows = smaller(kQueryRows, task.query_end - begin);
  const int64_t queries = pad32(rows);
  widen_columns(in.q + begin * in.q_row + head * in.q_head, in.q_row, in.head_dim, rows, queries, D, b.q);
  for (int64_t i = 0; i < queries; i += simd::kLanes) {
    simd::store(b.top + i, simd::splat(kLowestTop));
    simd::store(b.sum + i, simd::zero());
  }
  for (int64_t i = 0; i < queries * D; i += simd::kLanes) simd::store(b.out + i, simd::zero());
  fill_span(in.mask, begin, queries, *b.span);
  const int64_t key_end = smaller(in.mask.key_rows, int64_t{b.span->highest_last} + 1);
  for (int64_t key = b.span->lowest_first / kKeyRows * kKeyRows; key < key_end; key += kKeyRows) {
    const int64_t keys = smaller(kKeyRows, key_end - key);
    product({b.k + key * D, D, 1}, {b.q, queries}, {b.scores, queries}, keys, queries, D, Sum::fresh);
    soften({in.scale, in.softcap}, b, key, keys, queries, D, needs_mask(*b.span, key, key + keys));
    product({b.v + key * D, 1, D}, {b.scores, queries}, {b.out, queries}, D, queries, keys, Sum::onto);
  }
  write_block(task, head, begin, queries, b);
}

template <class T>
void forward_task(const FlashForward<T>& task, void* scratch) {
  const FlashInputs<T>& in = task.in;
  ForwardBuffers<float> b;
  carve(b, scratch, in.mask.key_rows, in.head_dim);
  const int64_t D = pad32(in.head_dim), keys = in.mask.key_rows;
  widen_rows(in.k, in.kv_row, in.head_dim, keys, keys, D, b.k);
  widen_rows(in.v, in.kv_row, in.head_dim, keys, keys, D, b.v);
  for (int64_t head = 0; head < in.group; ++head)
    for (int64_t begin = task.query_begin; begin < task.query_end; begin += kQueryRows)
      forward_block(task, head, begin, b);
}

}  // namespace
}  // namespace trireme
