// The loop of adamw for AVX2.
#include "ops/adamw/simd_kernels.h"

namespace trireme {

AdamwKernel adamw_kernel_avx2() { return adamw_kernel_here(); }

}  // namespace trireme
