// RMSNorm over heads for AVX-512.
#include "ops/qk_norm/simd_kernels.h"

namespace trireme {

QkNormKernels qk_norm_kernels_avx512(DType dtype) { return qk_norm_kernels_here(dtype); }

}  // namespace trireme
