// The loop of sgd for AVX-512.
#include "ops/sgd/simd_kernels.h"

namespace trireme {

SgdKernel sgd_kernel_avx512() { return sgd_kernel_here(); }

}  // namespace trireme
