// RMSNorm over heads for AVX2.
#include "ops/qk_norm/simd_kernels.h"

namespace trireme {

QkNormKernels qk_norm_kernels_avx2(DType dtype) { return qk_norm_kernels_here(dtype); }

}  // namespace trireme
