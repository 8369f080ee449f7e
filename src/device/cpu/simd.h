// Sixteen f32 lanes, whatever the machine has: one AVX-512 register, two of AVX2, four of SSE. Kernels are
// written once against this header, and compiled once per instruction set.
//
// How a folder uses it: a header simd_kernels.h holds the loops in an ANONYMOUS namespace; cpu.cpp,
// cpu_avx2.cpp and cpu_avx512.cpp include it and define entry points (plain functions named after the
// instruction set, or a function that returns a table of pointers); cpu.cpp picks one by CpuContext.isa.
// Such files use nothing else that is inline or a template (std::vector, fmt, std::function), since the
// linker would keep one copy, perhaps of an instruction set that the machine lacks.
//
// `a * b + c` may or may not be contracted to one rounding; fma() is one rounding where the machine has it.
// Sums over lanes are a fixed tree. simd_math.h has exp, tanh and erf.
#pragma once
#include "device/cpu/simd_isa.h"

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

inline constexpr int kLanes = 16;
inline constexpr int kParts = kLanes / kPartLanes;

struct F32x16 {
  FloatPart part[kParts];
};
// Also the result of comparisons: all bits set or none.
struct I32x16 {
  IntPart part[kParts];
};

// Applies f to the parts of each argument.
template <class Out, class F, class... In>
TRIREME_SIMD Out map_parts(const F& f, const In&... in) {
  Out out;
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) out.part[i] = f(in.part[i]...);
  return out;
}

// ---- Making, loading, storing. Pointers need no alignment.

TRIREME_SIMD F32x16 splat(float x) {
  return map_parts<F32x16>([&](FloatPart nothing) { return x - nothing; }, F32x16{});
}
TRIREME_SIMD I32x16 splat(int32_t x) {
  return map_parts<I32x16>([&](IntPart nothing) { return x - nothing; }, I32x16{});
}
TRIREME_SIMD F32x16 zero() { return F32x16{}; }

TRIREME_SIMD F32x16 load(const float* p) {
  F32x16 out;
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) out.part[i] = load_part(p + i * kPartLanes);
  return out;
}
TRIREME_SIMD F32x16 load(const bf16* p) {
  F32x16 out;
  const auto* bits = reinterpret_cast<const uint16_t*>(p);
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) out.part[i] = (FloatPart)(load_words(bits + i * kPartLanes) << 16);
  return out;
}
TRIREME_SIMD void store(float* p, const F32x16& x) {
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) store_part(p + i * kPartLanes, x.part[i]);
}
// Rounds to nearest, ties to even; NaN stays NaN: the same bits as to_bf16. But for denormals
// (below 1.2e-38), which AVX512-BF16's instruction makes zeros: nothing that is trained is of that size, and
// a cast from the cache runs at half the speed with integer operations.
TRIREME_SIMD void store(bf16* p, const F32x16& x) {
  auto* bits = reinterpret_cast<uint16_t*>(p);
#if defined(__AVX512BF16__)
  store_rounded(bits, x.part[0]);
#else
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) {
    const WordPart u = (WordPart)x.part[i];
    const WordPart rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    const WordPart quiet = (u >> 16) | 0x40u;
    const WordPart is_nan = (WordPart)(x.part[i] != x.part[i]);
    store_words(bits + i * kPartLanes, (rounded & ~is_nan) | (quiet & is_nan));
  }
#endif
}

// Hint before a stream of stores to p, one cache line or less at a time: fetches the line that will be
// written 2 KB later. Stores wait for their lines nearly one by one; fetched ahead, several are under way at
// once: measured outside the cache, twice the speed for stores alone, a third more for a copy, a tenth for
// sums of two arrays. p may lie near the end of its buffer.
template <class T>
TRIREME_SIMD void expect_writes(T* p) {
  __builtin_prefetch(reinterpret_cast<const char*>(p) + 2048, 1, 3);
}

// The first n lanes, 0 <= n <= 16; the others are 0. Reads nothing behind them.
template <class T>
TRIREME_SIMD F32x16 load(const T* p, int64_t n) {
  if (n >= kLanes) return load(p);
  T lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
template <class T>
TRIREME_SIMD void store(T* p, const F32x16& x, int64_t n) {
  if (n >= kLanes) return store(p, x);
  T lanes[kLanes];
  store(lanes, x);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}

// ---- Arithmetic, lane by lane.

TRIREME_SIMD F32x16 operator+(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return x + y; }, a, b);
}
TRIREME_SIMD F32x16 operator-(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return x - y; }, a, b);
}
TRIREME_SIMD F32x16 operator*(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return x * y; }, a, b);
}
TRIREME_SIMD F32x16 operator/(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return x / y; }, a, b);
}
TRIREME_SIMD F32x16 operator-(const F32x16& a) {
  return map_parts<F32x16>([](FloatPart x) { return -x; }, a);
}
TRIREME_SIMD F32x16& operator+=(F32x16& a, const F32x16& b) { return a = a + b; }
TRIREME_SIMD F32x16& operator*=(F32x16& a, const F32x16& b) { return a = a * b; }

// a * b + c.
TRIREME_SIMD F32x16 fma(const F32x16& a, const F32x16& b, const F32x16& c) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y, FloatPart z) { return fma_part(x, y, z); }, a, b, c);
}
// Each gives b where one of them is NaN.
TRIREME_SIMD F32x16 min(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return min_part(x, y); }, a, b);
}
TRIREME_SIMD F32x16 max(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>([](FloatPart x, FloatPart y) { return max_part(x, y); }, a, b);
}
TRIREME_SIMD F32x16 sqrt(const F32x16& a) {
  return map_parts<F32x16>([](FloatPart x) { return sqrt_part(x); }, a);
}
TRIREME_SIMD F32x16 abs(const F32x16& a) {
  return map_parts<F32x16>([](FloatPart x) { return (FloatPart)((WordPart)x & 0x7fffffffu); }, a);
}
// |a| with the sign of b.
TRIREME_SIMD F32x16 copysign(const F32x16& a, const F32x16& b) {
  return map_parts<F32x16>(
      [](FloatPart x, FloatPart y) {
        return (FloatPart)(((WordPart)x & 0x7fffffffu) | ((WordPart)y & 0x80000000u));
      },
      a, b);
}

// ---- Comparisons and selection.

TRIREME_SIMD I32x16 operator<(const F32x16& a, const F32x16& b) {
  return map_parts<I32x16>([](FloatPart x, FloatPart y) { return (IntPart)(x < y); }, a, b);
}
TRIREME_SIMD I32x16 operator<=(const F32x16& a, const F32x16& b) {
  return map_parts<I32x16>([](FloatPart x, FloatPart y) { return (IntPart)(x <= y); }, a, b);
}
TRIREME_SIMD I32x16 operator<(const I32x16& a, const I32x16& b) {
  return map_parts<I32x16>([](IntPart x, IntPart y) { return (IntPart)(x < y); }, a, b);
}
TRIREME_SIMD I32x16 operator&(const I32x16& a, const I32x16& b) {
  return map_parts<I32x16>([](IntPart x, IntPart y) { return x & y; }, a, b);
}
TRIREME_SIMD I32x16 operator+(const I32x16& a, const I32x16& b) {
  return map_parts<I32x16>([](IntPart x, IntPart y) { return x + y; }, a, b);
}
TRIREME_SIMD I32x16 operator-(const I32x16& a, const I32x16& b) {
  return map_parts<I32x16>([](IntPart x, IntPart y) { return x - y; }, a, b);
}
TRIREME_SIMD F32x16 select(const I32x16& mask, const F32x16& yes, const F32x16& no) {
  return map_parts<F32x16>([](IntPart m, FloatPart y, FloatPart n) { return m ? y : n; }, mask, yes, no);
}
// 0, 1, ..., 15.
TRIREME_SIMD I32x16 lane_numbers() {
  constexpr int32_t kNumbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  I32x16 out;
  __builtin_memcpy(&out, kNumbers, sizeof out);
  return out;
}

// ---- Reinterpretation.

TRIREME_SIMD I32x16 bits_of(const F32x16& a) {
  return map_parts<I32x16>([](FloatPart x) { return (IntPart)x; }, a);
}
TRIREME_SIMD F32x16 float_of_bits(const I32x16& a) {
  return map_parts<F32x16>([](IntPart x) { return (FloatPart)x; }, a);
}
template <int kBits>
TRIREME_SIMD I32x16 shift_left(const I32x16& a) {
  return map_parts<I32x16>([](IntPart x) { return x << kBits; }, a);
}
template <int kBits>
TRIREME_SIMD I32x16 shift_right(const I32x16& a) {  // arithmetic
  return map_parts<I32x16>([](IntPart x) { return x >> kBits; }, a);
}

// ---- Over the lanes: lane i with lane i + 8, then + 4, + 2, + 1, on every instruction set.

template <class F>
TRIREME_SIMD float reduce_lanes(const F32x16& a, const F& f) {
  FloatPart part[kParts];
#pragma GCC unroll 4
  for (int i = 0; i < kParts; ++i) part[i] = a.part[i];
#pragma GCC unroll 4
  for (int half = kParts / 2; half > 0; half /= 2)
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) part[i] = f(part[i], part[i + half]);
  if constexpr (kPartLanes == 16) part[0] = f(part[0], swap_lanes<8>(part[0]));
  if constexpr (kPartLanes >= 8) part[0] = f(part[0], swap_lanes<4>(part[0]));
  part[0] = f(part[0], swap_lanes<2>(part[0]));
  part[0] = f(part[0], swap_lanes<1>(part[0]));
  return part[0][0];
}
TRIREME_SIMD float sum(const F32x16& a) {
  return reduce_lanes(a, [](FloatPart x, FloatPart y) { return x + y; });
}
TRIREME_SIMD float max_lane(const F32x16& a) {
  return reduce_lanes(a, [](FloatPart x, FloatPart y) { return max_part(x, y); });
}

}  // inline namespace
}  // namespace trireme::simd
