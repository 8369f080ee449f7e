// The loop of sgd for AVX2.
#include "ops/sgd/simd_kernels.h"

namespace trireme {

SgdKernel sgd_kernel_avx2() { return sgd_kernel_here(); }

}  // namespace trireme
