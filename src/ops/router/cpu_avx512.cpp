// The router's products for AVX-512.
#include "ops/router/simd_kernels.h"

namespace trireme {

RouterKernels router_kernels_avx512(DType dtype) { return router_kernels_here(dtype); }

}  // namespace trireme
