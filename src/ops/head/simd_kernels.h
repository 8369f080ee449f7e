// Softmax, loss and gradient of one row of logits in two passes and a scaling. Included once per instruction
// set.
#pragma once
#include <math.h>

#include "device/cpu/simd_math.h"
#include "ops/head/row_loss.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::kLanes;

// One element. (to_float and its like are inline functions of all files: see device/cpu/simd.h.)
template <class T>
float get(const T* p) {
  return simd::load(p, 1).part[0][0];
}
template <class T>
void put(T* p, float x) {
  simd::store(p, simd::splat(x), 1);
}

template <class T>
float max_of(const T* z, int64_t n) {
  F32x16 top[4];
  for (F32x16& t : top) t = simd::splat(-__builtin_inff());
  int64_t v = 0;
  for (; v + 4 * kLanes <= n; v += 4 * kLanes)
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) top[i] = simd::max(top[i], simd::load(z + v + i * kLanes));
  float best = simd::max_lane(simd::max(simd::max(top[0], top[1]), simd::max(top[2], top[3])));
  for (; v < n; ++v) best = get(z + v) > best ? get(z + v) : best;
  return best;
}

// The sum of exp(cap(z) - top); with kGradient each z becomes exp(cap(z) - top), times the cap's derivative.
// Sums of 1024 in f32, those in f64.
template <bool kGradient, bool kCap, class T>
double exponentials(T* z, int64_t n, float top, float softcap) {
  constexpr int64_t kBlock = 1024;
  const F32x16 shift = simd::splat(top), cap = simd::splat(softcap), inverse = simd::splat(1.0f / softcap);
  double total = 0.0;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t last = first + kBlock < n ? first + kBlock : n;
    F32x16 sum = simd::zero();
    for (int64_t v = first; v < last; v += kLanes) {
      const int64_t left = last - v;
      F32x16 value = simd::load(z + v, left), slope = simd::splat(1.0f);
      if constexpr (kCap) {
        const F32x16 t = simd::tanh(value * inverse);
        value = cap * t;
        slope = simd::splat(1.0f) - t * t;
      }
      F32x16 e = simd::exp(value - shift);
      if (left < kLanes) {
        float lanes[kLanes];
        simd::store(lanes, e);
        for (int64_t i = left; i < kLanes; ++i) lanes[i] = 0.0f;
        e = simd::load(lanes);
      }
      sum += e;
      if constexpr (kGradient) simd::store(z + v, kCap ? e * slope : e, left);
    }
    total += static_cast<double>(simd::sum(sum));
  }
  return total;
}

template <class T>
void scale_row(T* z, int64_t n, float factor) {
  const F32x16 f = simd::splat(factor);
  for (int64_t v = 0; v < n; v += kLanes) simd::store(z + v, simd::load(z + v, n - v) * f, n - v);
}

template <bool kGradient, class T>
double exponentials_of(const RowLossSpec& spec, T* z, float top) {
  return spec.softcap != 0.0f ? exponentials<kGradient, true>(z, spec.vocab, top, spec.softcap)
                              : exponentials<kGradient, false>(z, spec.vocab, top, 1.0f);
}

// d nll / d z = p - [v = target], d z_loss lse^2 / d z = 2 z_loss lse p.
template <class T>
RowLoss row_loss(const RowLossSpec& spec, T* z, int32_t target) {
  const float cap = spec.softcap;
  float top = max_of(z, spec.vocab), hit = get(z + target), hit_slope = 1.0f;
  if (cap != 0.0f) {
    const float t = tanhf(hit / cap);
    top = cap * tanhf(top / cap);
    hit = cap * t;
    hit_slope = 1.0f - t * t;
  }
  const double sum =
      spec.gradient ? exponentials_of<true>(spec, z, top) : exponentials_of<false>(spec, z, top);
  const double lse = static_cast<double>(top) + log(sum);
  if (spec.gradient) {
    const float at_target = get(z + target);
    const auto factor = static_cast<float>((1.0 + 2.0 * spec.z_loss * lse) / sum);
    scale_row(z, spec.vocab, factor);
    put(z + target, at_target * factor - hit_slope);
  }
  return {static_cast<float>(lse - static_cast<double>(hit)), static_cast<float>(spec.z_loss * lse * lse)};
}

template <class T>
HeadRowPart row_part(const RowLossSpec& spec, T* z, int64_t target) {
  if (spec.vocab == 0) return {.top = -__builtin_inff(), .sum = 0.0f, .hit = 0.0f};
  const float cap = spec.softcap;
  float top = max_of(z, spec.vocab), hit = target >= 0 ? get(z + target) : 0.0f;
  if (cap != 0.0f) {
    top = cap * tanhf(top / cap);
    hit = cap * tanhf(hit / cap);
  }
  const double sum =
      spec.gradient ? exponentials_of<true>(spec, z, top) : exponentials_of<false>(spec, z, top);
  return {.top = top, .sum = static_cast<float>(sum), .hit = hit};
}

// z holds exp(logit - top) times the cap's slope, which the target's 1 still lacks.
template <class T>
void end_row(const RowLossSpec& spec, T* z, const RowEnd& end) {
  const float t = spec.softcap != 0.0f ? end.hit / spec.softcap : 0.0f;
  const float at_target = end.target >= 0 ? get(z + end.target) : 0.0f;
  scale_row(z, spec.vocab, end.factor);
  if (end.target >= 0) put(z + end.target, at_target * end.factor - (1.0f - t * t));
  for (int64_t v = 0; v < spec.padding; ++v) put(z + spec.vocab + v, 0.0f);
}

inline void cap_row(float* z, int64_t n, float softcap) {
  const F32x16 cap = simd::splat(softcap), inverse = simd::splat(1.0f / softcap);
  for (int64_t v = 0; v < n; v += kLanes)
    simd::store(z + v, cap * simd::tanh(simd::load(z + v, n - v) * inverse), n - v);
}

inline RowKernels row_kernels_here() {
  return {row_loss<float>, row_loss<bf16>, row_part<float>,  row_part<bf16>, end_row<float>,
          end_row<bf16>,   cap_row,        scale_row<float>, scale_row<bf16>};
}

}  // namespace
}  // namespace trireme
