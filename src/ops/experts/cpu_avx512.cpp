// The experts' loops over rows for AVX-512.
#include "ops/experts/simd_kernels.h"

namespace trireme {

GateKernels gate_kernels_avx512(DType dtype) { return gate_kernels_here(dtype); }

}  // namespace trireme
