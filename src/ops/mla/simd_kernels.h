// The loops of cpu_kernels.h, compiled once per instruction set. Loads and stores take at most 16 of the
// elements that are left.
#pragma once
#include "device/cpu/simd.h"
#include "ops/mla/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;

template <class T>
void sum_heads(const void* rows, int64_t heads, int64_t stride, int64_t dim, float* sum) {
  const T* x = static_cast<const T*>(rows);
  for (int64_t i = 0; i < dim; i += simd::kLanes) {
    F32x16 total = simd::zero();
    for (int64_t h = 0; h < heads; ++h) total = total + simd::load(x + h * stride + i, dim - i);
    simd::store(sum + i, total, dim - i);
  }
}

template <class T>
void store_row(const float* x, void* row, int64_t dim) {
  T* y = static_cast<T*>(row);
  for (int64_t i = 0; i < dim; i += simd::kLanes) simd::store(y + i, simd::load(x + i, dim - i), dim - i);
}

inline MlaKernels mla_kernels_here(DType dtype) {
  if (dtype == DType::bf16) return {sum_heads<bf16>, store_row<bf16>};
  return {sum_heads<float>, store_row<float>};
}

}  // namespace
}  // namespace trireme
