// RMSNorm over the heads of one token: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

// All rows in one compute dtype but for rstd and dweight; heads lie one behind the other, `dim` elements
// each, and share a weight.
struct QkNormKernels {
  // Writes y and rstd[heads]; y may be x.
  void (*forward)(const void* x, const void* weight, void* y, float* rstd, int64_t heads, int64_t dim,
                  float eps);
  // Writes dx and adds to dweight[dim]; dx may be dy.
  void (*backward)(const void* x, const void* weight, const float* rstd, const void* dy, void* dx,
                   float* dweight, int64_t heads, int64_t dim);
};

QkNormKernels qk_norm_kernels_baseline(DType dtype);
QkNormKernels qk_norm_kernels_avx2(DType dtype);
QkNormKernels qk_norm_kernels_avx512(DType dtype);
QkNormKernels qk_norm_kernels_avx512_bf16(DType dtype);

}  // namespace trireme
