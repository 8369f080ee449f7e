// The experts' loops over rows for AVX-512 with bf16 conversion.
#include "ops/experts/simd_kernels.h"

namespace trireme {

GateKernels gate_kernels_avx512_bf16(DType dtype) { return gate_kernels_here(dtype); }

}  // namespace trireme
