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

// 2^x within 3e-6 of itself: P(x - floor(x)) * 2^floor(x), P fitted by reweighted least squares. 0 below
// -149.
[[gnu::always_inline]] inline __m512 exp2_rough(__m512 x) {
  constexpr int kFloor = 0x09;
  const __m512 f = _mm512_reduce_ps(x, kFloor);
  __m512 p = _mm512_set1_ps(0.0135341652f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.0520114658f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.241442754f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.693003835f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.00000259f));
  return _mm512_scalef_ps(p, x);
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
