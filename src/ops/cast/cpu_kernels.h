// The loops of cast: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

using CastKernel = void (*)(const void* x, void* y, int64_t n);

CastKernel cast_kernel_baseline(DType from, DType to);
CastKernel cast_kernel_avx2(DType from, DType to);
CastKernel cast_kernel_avx512(DType from, DType to);
CastKernel cast_kernel_avx512_bf16(DType from, DType to);

}  // namespace trireme
