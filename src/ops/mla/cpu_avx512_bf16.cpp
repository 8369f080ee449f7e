// Rows of latent attention for AVX-512 with bf16 conversion.
#include "ops/mla/simd_kernels.h"

namespace trireme {

MlaKernels mla_kernels_avx512_bf16(DType dtype) { return mla_kernels_here(dtype); }

}  // namespace trireme
