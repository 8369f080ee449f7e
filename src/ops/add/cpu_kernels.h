// The loop of add: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

using AddKernel = void (*)(const void* a, const void* b, void* y, int64_t n);  // y may be a

AddKernel add_kernel_baseline(DType dtype);
AddKernel add_kernel_avx2(DType dtype);
AddKernel add_kernel_avx512(DType dtype);
AddKernel add_kernel_avx512_bf16(DType dtype);

}  // namespace trireme
