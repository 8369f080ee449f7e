// Sums of rows, the loops behind embedding and positions: one version per instruction set.
#pragma once
#include "base/dtype.h"
#include "device/cpu/isa.h"

namespace trireme {

// x, a, b and y are rows of n elements in one compute dtype; sum is f32.
struct RowSums {
  void (*add)(const void* a, const void* b, void* y, int64_t n);  // y = a + b; y may be a
  void (*accumulate)(const void* x, float* sum, int64_t n);       // sum += x
};

RowSums row_sums(CpuIsa isa, DType dtype);

RowSums row_sums_baseline(DType dtype);
RowSums row_sums_avx2(DType dtype);
RowSums row_sums_avx512(DType dtype);

}  // namespace trireme
