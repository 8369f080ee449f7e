// The loops of cpu_kernels.h, compiled once per instruction set. Loads and stores take at most 16 of the
// elements that are left.
#pragma once
#include "device/cpu/simd.h"
#include "ops/qk_norm/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;

template <class T>
void forward(const void* x_row, const void* weight_row, void* y_row, float* rstd, int64_t heads, int64_t dim,
             float eps) {
  const T* weight = static_cast<const T*>(weight_row);
  for (int64_t h = 0; h < heads; ++h) {
    const T* x = static_cast<const T*>(x_row) + h * dim;
    F32x16 squares = simd::zero();
    for (int64_t i = 0; i < dim; i += simd::kLanes) {
      const F32x16 v = simd::load(x + i, dim - i);
      squares = fma(v, v, squares);
    }
    rstd[h] = simd::sum(squares);
  }
  for (int64_t h = 0; h < heads; h += simd::kLanes) {  // a root and a division for sixteen heads
    const F32x16 mean = simd::load(rstd + h, heads - h) / simd::splat(static_cast<float>(dim));
    simd::store(rstd + h, simd::splat(1.0f) / sqrt(mean + simd::splat(eps)), heads - h);
  }
  for (int64_t h = 0; h < heads; ++h) {
    const T* x = static_cast<const T*>(x_row) + h * dim;
    T* y = static_cast<T*>(y_row) + h * dim;
    const F32x16 scale = simd::splat(rstd[h]);
    for (int64_t i = 0; i < dim; i += simd::kLanes) {
      simd::expect_writes(y + i);
      simd::store(y + i, simd::load(x + i, dim - i) * scale * simd::load(weight + i, dim - i), dim - i);
    }
  }
}

template <class T>
void backward(const void* x_row, const void* weight_row, const float* rstd, const void* dy_row, void* dx_row,
              float* dweight, int64_t heads, int64_t dim) {
  const T* weight = static_cast<const T*>(weight_row);
  for (int64_t h = 0; h < heads; ++h) {
    const T* x = static_cast<const T*>(x_row) + h * dim;
    const T* dy = static_cast<const T*>(dy_row) + h * dim;
    T* dx = static_cast<T*>(dx_row) + h * dim;
    const F32x16 scale = simd::splat(rstd[h]);
    F32x16 product = simd::zero();
    for (int64_t i = 0; i < dim; i += simd::kLanes) {
      const int64_t n = dim - i;
      const F32x16 normed = simd::load(x + i, n) * scale;
      const F32x16 slope = simd::load(dy + i, n) * normed;
      simd::store(dweight + i, simd::load(dweight + i, n) + slope, n);
      product = fma(slope, simd::load(weight + i, n), product);
    }
    const F32x16 mean = simd::splat(simd::sum(product) / static_cast<float>(dim));
    for (int64_t i = 0; i < dim; i += simd::kLanes) {
      const int64_t n = dim - i;
      const F32x16 normed = simd::load(x + i, n) * scale;
      const F32x16 slope = simd::load(dy + i, n) * simd::load(weight + i, n);
      simd::expect_writes(dx + i);
      simd::store(dx + i, scale * (slope - normed * mean), n);
    }
  }
}

QkNormKernels qk_norm_kernels_here(DType dtype) {
  if (dtype == DType::bf16) return {forward<bf16>, backward<bf16>};
  return {forward<float>, backward<float>};
}

}  // namespace
}  // namespace trireme
