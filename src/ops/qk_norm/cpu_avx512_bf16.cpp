// RMSNorm over heads for AVX-512 with bf16 conversion.
#include "ops/qk_norm/simd_kernels.h"

namespace trireme {

QkNormKernels qk_norm_kernels_avx512_bf16(DType dtype) { return qk_norm_kernels_here(dtype); }

}  // namespace trireme
