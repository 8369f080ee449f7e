// The loops of cast for AVX-512 with bf16 conversion.
#include "ops/cast/simd_kernels.h"

namespace trireme {

CastKernel cast_kernel_avx512_bf16(DType from, DType to) { return cast_kernel_here(from, to); }

}  // namespace trireme
