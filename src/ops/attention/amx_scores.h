// Scores to weights on AVX-512, in powers of two: what the tile kernels do between their products. A lane is
// a query, a row a key.
#pragma once
#include <immintrin.h>

#include "device/cpu/simd_math.h"
#include "ops/attention/flash_span.h"

namespace trireme {
namespace {

inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;
inline constexpr float kNoTop = -1e30f;  // before any key has been seen

// 2^x within 8e-5 of itself, far below what bf16 weights keep: P(x - floor(x)) * 2^floor(x), P fitted by
// reweighted least squares. 0 below -149.
[[gnu::always_inline]] inline __m512 exp2_rough(__m512 x) {
  constexpr int kFloor = 0x09;
  const __m512 f = _mm512_reduce_ps(x, kFloor);
  __m512 p = _mm512_set1_ps(0.0780244995f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.226067188f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.695833529f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.999925219f));
  return _mm512_scalef_ps(p, x);
}

// bf16 of two rows as pairs of lanes, (low[i], high[i]); finite and not negative. Halves round up: cheaper
// than to even, and as good for weights.
[[gnu::always_inline]] inline __m512i pair_rows(__m512 low, __m512 high) {
  const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  const __m512i a = _mm512_srli_epi32(_mm512_add_epi32((__m512i)low, half), 16);
  const __m512i b = _mm512_add_epi32((__m512i)high, half);
  return _mm512_ternarylogic_epi32(upper, b, a, 0xca);  // upper ? b : a
}

// scale and softcap folded into one factor where there is no cap: exponent = factor * (dot or capped score).
struct TileScoreRule {
  float factor = 1.0f;  // of what is exponentiated to base 2
  float inner = 1.0f, cap = 0.0f;
};
inline TileScoreRule tile_rule(float scale, float softcap) {
  if (softcap == 0.0f) return {scale * kLog2E, 1.0f, 0.0f};
  return {softcap * kLog2E, scale / softcap, softcap};
}

// tanh(dot * scale / cap), in place of the dot.
[[gnu::always_inline]] inline __m512 cap_dot(const TileScoreRule& rule, __m512 dot) {
  simd::F32x16 x;
  x.part[0] = dot * _mm512_set1_ps(rule.inner);
  return simd::tanh(x).part[0];
}

// ln x for x > 0, within 3e-7 of the larger of 1 and itself: exponent and a series in (m - 1) / (m + 1) for
// the mantissa m in [0.75, 1.5).
[[gnu::always_inline]] inline __m512 log_rough(__m512 x) {
  const __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
  const __m512 e = _mm512_getexp_ps(x / m);
  const __m512 one = _mm512_set1_ps(1.0f), t = (m - one) / (m + one), t2 = t * t;
  __m512 p = _mm512_set1_ps(2.0f / 9.0f);
  p = _mm512_fmadd_ps(p, t2, _mm512_set1_ps(2.0f / 7.0f));
  p = _mm512_fmadd_ps(p, t2, _mm512_set1_ps(2.0f / 5.0f));
  p = _mm512_fmadd_ps(p, t2, _mm512_set1_ps(2.0f / 3.0f));
  p = _mm512_fmadd_ps(p, t2, _mm512_set1_ps(2.0f));
  return _mm512_fmadd_ps(e, _mm512_set1_ps(kLn2), t * p);
}

struct Limits {
  __m512i first, last;
};
[[gnu::always_inline]] inline Limits limits(const BlockSpan& span, int64_t lane) {
  return {_mm512_loadu_si512(span.first + lane), _mm512_loadu_si512(span.last + lane)};
}
[[gnu::always_inline]] inline __mmask16 visible_to(const Limits& l, int64_t key) {
  const __m512i k = _mm512_set1_epi32(static_cast<int32_t>(key));
  return _mm512_cmple_epi32_mask(l.first, k) & _mm512_cmple_epi32_mask(k, l.last);
}

}  // namespace
}  // namespace trireme
