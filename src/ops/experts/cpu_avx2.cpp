// The experts' loops over rows for AVX2.
#include "ops/experts/simd_kernels.h"

namespace trireme {

GateKernels gate_kernels_avx2(DType dtype) { return gate_kernels_here(dtype); }

}  // namespace trireme
