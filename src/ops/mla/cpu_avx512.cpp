// Rows of latent attention for AVX-512.
#include "ops/mla/simd_kernels.h"

namespace trireme {

MlaKernels mla_kernels_avx512(DType dtype) { return mla_kernels_here(dtype); }

}  // namespace trireme
