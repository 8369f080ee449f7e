// The loop of adamw for AVX-512.
#include "ops/adamw/simd_kernels.h"

namespace trireme {

AdamwKernel adamw_kernel_avx512() { return adamw_kernel_here(); }

}  // namespace trireme
