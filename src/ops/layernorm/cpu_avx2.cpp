// The row loops of norms for AVX2.
#include "ops/layernorm/simd_kernels.h"

namespace trireme {

NormKernels norm_kernels_avx2(NormKind kind, DType dtype) { return norm_kernels_here(kind, dtype); }

}  // namespace trireme
