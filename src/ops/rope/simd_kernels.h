// The loops of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/rope/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;

template <class T>
void rotate_half(const void* x_row, void* y_row, const float* turn, int64_t heads, int64_t dim) {
  const int64_t half = dim / 2;
  const float* cosines = turn;
  const float* sines = turn + half;
  for (int64_t h = 0; h < heads; ++h) {
    const T* a = static_cast<const T*>(x_row) + h * dim;
    const T* b = a + half;
    T* y = static_cast<T*>(y_row) + h * dim;
    for (int64_t i = 0; i < half; i += simd::kLanes) {
      const int64_t n = half - i;  // load and store take at most 16 of them
      const F32x16 cos = simd::load(cosines + i, n), sin = simd::load(sines + i, n);
      simd::expect_writes(y + i);
      simd::expect_writes(y + half + i);
      const F32x16 first = simd::load(a + i, n), second = simd::load(b + i, n);
      simd::store(y + i, first * cos - second * sin, n);
      simd::store(y + half + i, second * cos + first * sin, n);
    }
  }
}

// Lanes 2i and 2i + 1 change places.
TRIREME_SIMD F32x16 swap_pairs(const F32x16& x) {
  return simd::map_parts<F32x16>([](simd::FloatPart part) { return simd::swap_lanes<1>(part); }, x);
}

template <class T>
void rotate_interleaved(const void* x_row, void* y_row, const float* turn, int64_t heads, int64_t dim) {
  const float* cosines = turn;
  const float* sines = turn + dim;
  for (int64_t h = 0; h < heads; ++h) {
    const T* x = static_cast<const T*>(x_row) + h * dim;
    T* y = static_cast<T*>(y_row) + h * dim;
    for (int64_t i = 0; i < dim; i += simd::kLanes) {
      const int64_t n = dim - i;
      simd::expect_writes(y + i);
      const F32x16 pairs = simd::load(x + i, n);
      const F32x16 cos = simd::load(cosines + i, n), sin = simd::load(sines + i, n);
      simd::store(y + i, pairs * cos + swap_pairs(pairs) * sin, n);
    }
  }
}

inline RopeRow rope_row_here(RotaryLayout layout, DType dtype) {
  if (layout == RotaryLayout::half) return dtype == DType::bf16 ? rotate_half<bf16> : rotate_half<float>;
  return dtype == DType::bf16 ? rotate_interleaved<bf16> : rotate_interleaved<float>;
}

}  // namespace
}  // namespace trireme
