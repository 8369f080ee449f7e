// The loops of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/cast/cpu_kernels.h"

namespace trireme {
namespace {

template <class From, class To>
void cast_elements(const void* x_data, void* y_data, int64_t n) {
  const From* x = static_cast<const From*>(x_data);
  To* y = static_cast<To*>(y_data);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    simd::expect_writes(y + i);
    simd::store(y + i, simd::load(x + i));
  }
  if (i < n) simd::store(y + i, simd::load(x + i, n - i), n - i);
}

CastKernel cast_kernel_here(DType from, DType to) {
  if (from == DType::bf16) return to == DType::bf16 ? cast_elements<bf16, bf16> : cast_elements<bf16, float>;
  return to == DType::bf16 ? cast_elements<float, bf16> : cast_elements<float, float>;
}

}  // namespace
}  // namespace trireme
