// The loops of cpu_row_sums.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/embedding/cpu_row_sums.h"

namespace trireme {
namespace {

template <class T>
void add_row(const void* a_row, const void* b_row, void* y_row, int64_t n) {
  const T* a = static_cast<const T*>(a_row);
  const T* b = static_cast<const T*>(b_row);
  T* y = static_cast<T*>(y_row);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) simd::store(y + i, simd::load(a + i) + simd::load(b + i));
  if (i < n) simd::store(y + i, simd::load(a + i, n - i) + simd::load(b + i, n - i), n - i);
}

template <class T>
void accumulate_row(const void* x_row, float* sum, int64_t n) {
  const T* x = static_cast<const T*>(x_row);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes)
    simd::store(sum + i, simd::load(sum + i) + simd::load(x + i));
  if (i < n) simd::store(sum + i, simd::load(sum + i, n - i) + simd::load(x + i, n - i), n - i);
}

RowSums row_sums_here(DType dtype) {
  if (dtype == DType::bf16) return {add_row<bf16>, accumulate_row<bf16>};
  return {add_row<float>, accumulate_row<float>};
}

}  // namespace
}  // namespace trireme
