// The router's products for AVX2.
#include "ops/router/simd_kernels.h"

namespace trireme {

RouterKernels router_kernels_avx2(DType dtype) { return router_kernels_here(dtype); }

}  // namespace trireme
