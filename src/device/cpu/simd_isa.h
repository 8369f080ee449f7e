// The few vector primitives that need instructions of one instruction set; simd.h builds the rest from them.
// Everything lies in an inline namespace named after the flags of the including file, so that the linker
// never merges code of two instruction sets.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "base/dtype.h"

// Vectors wider than the machine's are only passed between inlined functions: their ABI does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

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

// What every function here is: gone after inlining.
#define TRIREME_SIMD [[gnu::always_inline]] inline

#if defined(__AVX512F__)
inline constexpr int kPartLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kPartLanes = 8;
#else
inline constexpr int kPartLanes = 4;
#endif

// One register.
using FloatPart [[gnu::vector_size(kPartLanes * 4)]] = float;
using IntPart [[gnu::vector_size(kPartLanes * 4)]] = int32_t;
using WordPart [[gnu::vector_size(kPartLanes * 4)]] = uint32_t;

#if defined(__AVX512F__)

TRIREME_SIMD FloatPart load_part(const float* p) { return _mm512_loadu_ps(p); }
TRIREME_SIMD void store_part(float* p, FloatPart x) { _mm512_storeu_ps(p, x); }
// The forms with a full mask: g++ 12 warns of uninitialised values inside the plain ones.
TRIREME_SIMD WordPart load_words(const uint16_t* p) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return (WordPart)_mm512_maskz_cvtepu16_epi32(0xffff, halves);
}
TRIREME_SIMD void store_words(uint16_t* p, WordPart x) {  // of which the upper halves are zero
  const __m256i halves = _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)x);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), halves);
}
#if defined(__AVX512BF16__)
// Rounds to nearest even, whatever the rounding mode. Denormals, read or written, become zeros of their sign.
TRIREME_SIMD void store_rounded(uint16_t* p, FloatPart x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(x));
}
#endif
TRIREME_SIMD FloatPart sqrt_part(FloatPart x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
TRIREME_SIMD FloatPart min_part(FloatPart a, FloatPart b) { return _mm512_maskz_min_ps(0xffff, a, b); }
TRIREME_SIMD FloatPart max_part(FloatPart a, FloatPart b) { return _mm512_maskz_max_ps(0xffff, a, b); }
TRIREME_SIMD FloatPart fma_part(FloatPart a, FloatPart b, FloatPart c) { return _mm512_fmadd_ps(a, b, c); }

#elif defined(__AVX2__)

TRIREME_SIMD FloatPart load_part(const float* p) { return _mm256_loadu_ps(p); }
TRIREME_SIMD void store_part(float* p, FloatPart x) { _mm256_storeu_ps(p, x); }
TRIREME_SIMD WordPart load_words(const uint16_t* p) {
  return (WordPart)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TRIREME_SIMD void store_words(uint16_t* p, WordPart x) {
  const __m128i low = _mm256_castsi256_si128((__m256i)x), high = _mm256_extracti128_si256((__m256i)x, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packus_epi32(low, high));
}
TRIREME_SIMD FloatPart sqrt_part(FloatPart x) { return _mm256_sqrt_ps(x); }
TRIREME_SIMD FloatPart min_part(FloatPart a, FloatPart b) { return _mm256_min_ps(a, b); }
TRIREME_SIMD FloatPart max_part(FloatPart a, FloatPart b) { return _mm256_max_ps(a, b); }
TRIREME_SIMD FloatPart fma_part(FloatPart a, FloatPart b, FloatPart c) { return _mm256_fmadd_ps(a, b, c); }

#else

TRIREME_SIMD FloatPart load_part(const float* p) { return _mm_loadu_ps(p); }
TRIREME_SIMD void store_part(float* p, FloatPart x) { _mm_storeu_ps(p, x); }
TRIREME_SIMD WordPart load_words(const uint16_t* p) {
  return (WordPart)_mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)),
                                      _mm_setzero_si128());
}
TRIREME_SIMD void store_words(uint16_t* p, WordPart x) {
  // SSE2 packs signed numbers only: sign-extend, so that saturation never happens.
  const __m128i halves = _mm_srai_epi32(_mm_slli_epi32((__m128i)x, 16), 16);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(halves, halves));
}
TRIREME_SIMD FloatPart sqrt_part(FloatPart x) { return _mm_sqrt_ps(x); }
TRIREME_SIMD FloatPart min_part(FloatPart a, FloatPart b) { return _mm_min_ps(a, b); }
TRIREME_SIMD FloatPart max_part(FloatPart a, FloatPart b) { return _mm_max_ps(a, b); }
TRIREME_SIMD FloatPart fma_part(FloatPart a, FloatPart b, FloatPart c) { return a * b + c; }

#endif

// Lane i becomes lane i ^ kBy. Constant indices: g++ makes one instruction of them.
template <int kBy>
TRIREME_SIMD FloatPart swap_lanes(FloatPart x) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(x, x, 0 ^ kBy, 1 ^ kBy, 2 ^ kBy, 3 ^ kBy, 4 ^ kBy, 5 ^ kBy, 6 ^ kBy, 7 ^ kBy,
                                 8 ^ kBy, 9 ^ kBy, 10 ^ kBy, 11 ^ kBy, 12 ^ kBy, 13 ^ kBy, 14 ^ kBy,
                                 15 ^ kBy);
#elif defined(__AVX2__)
  return __builtin_shufflevector(x, x, 0 ^ kBy, 1 ^ kBy, 2 ^ kBy, 3 ^ kBy, 4 ^ kBy, 5 ^ kBy, 6 ^ kBy,
                                 7 ^ kBy);
#else
  return __builtin_shufflevector(x, x, 0 ^ kBy, 1 ^ kBy, 2 ^ kBy, 3 ^ kBy);
#endif
}

}  // inline namespace
}  // namespace trireme::simd
