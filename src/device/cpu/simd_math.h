// exp, tanh, erf and what activations need, on sixteen f32 lanes. Polynomials were fitted by reweighted least
// squares to the functions in double precision; errors are stated in units of the last place (ulp) of f32
// and checked by tests/device/simd_test.cpp.
#pragma once
#include "device/cpu/simd.h"

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

// c[0] + c[1] x + ... by Horner's rule.
template <int kTerms>
TRIREME_SIMD F32x16 polynomial(const F32x16& x, const float (&c)[kTerms]) {
  F32x16 sum = splat(c[kTerms - 1]);
#pragma GCC unroll 8
  for (int i = kTerms - 2; i >= 0; --i) sum = fma(sum, x, splat(c[i]));
  return sum;
}

// e^x, within 2 ulp; below -104 it is 0, above 88.8 infinity; NaN stays NaN. x = n ln 2 + r with |r| <= ln 2
// / 2.
TRIREME_SIMD F32x16 exp(const F32x16& x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  constexpr float kTerms[] = {5.000000096e-1f, 1.666651830e-1f, 4.166620417e-2f, 8.368953709e-3f,
                              1.395060030e-3f};
  const F32x16 bounded = min(splat(89.0f), max(splat(-105.0f), x));
  const F32x16 shifted = fma(bounded, splat(kLog2E), splat(kRound));
  const F32x16 n = shifted - splat(kRound);
  const F32x16 r = fma(n, splat(-kLn2Low), fma(n, splat(-kLn2High), bounded));
  const F32x16 power = fma(r * r, polynomial(r, kTerms), r) + splat(1.0f);
  // 2^n in two factors, so that neither leaves the range of exponents.
  const I32x16 exponent = bits_of(shifted) - bits_of(splat(kRound));
  const I32x16 half = shift_right<1>(exponent);
  const F32x16 first = float_of_bits(shift_left<23>(half + splat(int32_t{127})));
  const F32x16 second = float_of_bits(shift_left<23>(exponent - half + splat(int32_t{127})));
  return power * first * second;
}

// 1 / (1 + e^-x), within 3 ulp.
TRIREME_SIMD F32x16 sigmoid(const F32x16& x) { return splat(1.0f) / (splat(1.0f) + exp(-x)); }

// Within 3 ulp. A polynomial near 0, where 1 - 2 / (e^2x + 1) would cancel.
TRIREME_SIMD F32x16 tanh(const F32x16& x) {
  constexpr float kTerms[] = {-3.333328371e-1f, 1.333148494e-1f, -5.374293400e-2f, 2.064864610e-2f,
                              -5.714772617e-3f};
  const F32x16 size = abs(x), square = x * x;
  const F32x16 near = fma(x * square, polynomial(square, kTerms), x);
  const F32x16 far = splat(1.0f) - splat(2.0f) / (exp(size + size) + splat(1.0f));
  return copysign(select(size < splat(0.625f), near, far), x);
}

// Within 3 ulp. Odd polynomial up to 0.92; beyond, 1 - exp(t p(t)) with t p(t) = log erfc(t) fitted.
TRIREME_SIMD F32x16 erf(const F32x16& x) {
  constexpr float kNear[] = {1.283791520e-1f,  -3.761250818e-1f, 1.128195491e-1f,
                             -2.677128352e-2f, 4.999601410e-3f,  -6.021806249e-4f};
  constexpr float kFar[] = {-1.128637075e+0f, -6.351980343e-1f, -1.061590491e-1f, 2.369456597e-2f,
                            -3.610341961e-3f, 3.148581157e-4f,  -1.043311466e-5f};
  const F32x16 size = abs(x), square = x * x;
  const F32x16 t = min(splat(4.0f), size);  // erf(4) rounds to 1; NaN goes through
  const F32x16 near = fma(x, polynomial(square, kNear), x);
  const F32x16 far = splat(1.0f) - exp(t * polynomial(t, kFar));
  return select(size < splat(0.92f), near, copysign(far, x));
}

}  // inline namespace
}  // namespace trireme::simd
