// SwiGLU loops for AVX-512 with bf16 conversion.
#include "ops/swiglu/simd_kernels.h"

namespace trireme {

SwigluKernels swiglu_kernels_avx512_bf16(DType dtype) { return swiglu_kernels_here(dtype); }

}  // namespace trireme
