// The row loops of norms for AVX-512 with bf16 conversion.
#include "ops/layernorm/simd_kernels.h"

namespace trireme {

NormKernels norm_kernels_avx512_bf16(NormKind kind, DType dtype) { return norm_kernels_here(kind, dtype); }

}  // namespace trireme
