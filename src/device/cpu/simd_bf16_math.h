// The functions of simd_math.h at the precision that a bf16 result needs: their error, at most 2^-13 of the
// value, is a 32nd of what rounding to bf16 may cost (2^-8). Only AVX-512 gains by it: it has instructions
// for x - floor(x), for 2^floor(x) and for estimates of 1/x; elsewhere they are those of simd_math.h.
// Checked by tests/device/simd_test.cpp.
#pragma once
#include <type_traits>

#include "device/cpu/simd_math.h"

namespace trireme::simd {
#if defined(__AVX512BF16__)
inline namespace avx512_bf16 {
#elif defined(__AVX512F__)
inline namespace avx512 {
#elif defined(__AVX2__)
inline namespace avx2 {
#else
inline namespace baseline {
#endif

#if defined(__AVX512F__)

// 2^x, within 2^-18 of the value: 2^(x - floor(x)) by a polynomial (relative minimax on [0, 1]), then scaled.
// 0 and infinity beyond the range; NaN stays NaN.
TRIREME_SIMD F32x16 rough_exp2(const F32x16& x) {
  constexpr float kTerms[] = {1.000002593e+00f, 6.930038345e-01f, 2.414427569e-01f, 5.201146062e-02f,
                              1.353416791e-02f};
  constexpr int kFloor = 1;  // of the whole number, which is taken off
  const F32x16 rest = map_parts<F32x16>(
      [](FloatPart p) -> FloatPart { return _mm512_maskz_reduce_ps(0xffff, p, kFloor); }, x);
  return map_parts<F32x16>(
      [](FloatPart p, FloatPart n) -> FloatPart { return _mm512_maskz_scalef_ps(0xffff, p, n); },
      polynomial(rest, kTerms), x);
}

// 1 / x, within 2^-14 of the value.
TRIREME_SIMD F32x16 rough_inverse(const F32x16& x) {
  return map_parts<F32x16>([](FloatPart p) -> FloatPart { return _mm512_maskz_rcp14_ps(0xffff, p); }, x);
}

#endif

// sigmoid(x) and 1 - sigmoid(x), which is not the difference: near 1 that would magnify the error.
struct SigmoidAndRest {
  F32x16 value, rest;
};

// For x >= -80, results stored as T: each within 2^-13 of itself for bf16, 4 ulp for float.
template <class T>
TRIREME_SIMD SigmoidAndRest sigmoid_and_rest_for(const F32x16& x) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, bf16>) {
    const F32x16 power = rough_exp2(x * splat(-1.44269504f));
    const F32x16 value = rough_inverse(splat(1.0f) + power);
    return {value, power * value};
  }
#endif
  const F32x16 power = exp(-x);
  const F32x16 value = splat(1.0f) / (splat(1.0f) + power);
  return {value, power * value};
}

// 1 / (1 + e^-x) for any x, for a result stored as T: with the same errors.
template <class T>
TRIREME_SIMD F32x16 sigmoid_for(const F32x16& x) {
  return sigmoid_and_rest_for<T>(x).value;
}

}  // inline namespace
}  // namespace trireme::simd
