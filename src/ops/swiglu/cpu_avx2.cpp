// SwiGLU loops for AVX2.
#include "ops/swiglu/simd_kernels.h"

namespace trireme {

SwigluKernels swiglu_kernels_avx2(DType dtype) { return swiglu_kernels_here(dtype); }

}  // namespace trireme
