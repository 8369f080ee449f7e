// The loops of cast for AVX2.
#include "ops/cast/simd_kernels.h"

namespace trireme {

CastKernel cast_kernel_avx2(DType from, DType to) { return cast_kernel_here(from, to); }

}  // namespace trireme
