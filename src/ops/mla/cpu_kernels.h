// Rows around the shared key of latent attention: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct MlaKernels {
  // sum[dim] = the sum over heads of x[head * stride + 0 ... dim), in the order of the heads.
  void (*sum_heads)(const void* x, int64_t heads, int64_t stride, int64_t dim, float* sum);
  // y[dim], in the compute dtype.
  void (*store)(const float* x, void* y, int64_t dim);
};

MlaKernels mla_kernels_baseline(DType dtype);
MlaKernels mla_kernels_avx2(DType dtype);
MlaKernels mla_kernels_avx512(DType dtype);
MlaKernels mla_kernels_avx512_bf16(DType dtype);

}  // namespace trireme
