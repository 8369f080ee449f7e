// The loop of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/add/cpu_kernels.h"

namespace trireme {
namespace {

template <class T>
void add_elements(const void* a_data, const void* b_data, void* y_data, int64_t n) {
  const T *a = static_cast<const T*>(a_data), *b = static_cast<const T*>(b_data);
  T* y = static_cast<T*>(y_data);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    simd::expect_writes(y + i);
    simd::store(y + i, simd::load(a + i) + simd::load(b + i));
  }
  if (i < n) simd::store(y + i, simd::load(a + i, n - i) + simd::load(b + i, n - i), n - i);
}

AddKernel add_kernel_here(DType dtype) {
  return dtype == DType::bf16 ? add_elements<bf16> : add_elements<float>;
}

}  // namespace
}  // namespace trireme
