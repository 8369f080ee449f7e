// SwiGLU loops for AVX-512.
#include "ops/swiglu/simd_kernels.h"

namespace trireme {

SwigluKernels swiglu_kernels_avx512(DType dtype) { return swiglu_kernels_here(dtype); }

}  // namespace trireme
