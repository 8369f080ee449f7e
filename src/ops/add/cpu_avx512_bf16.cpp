// The loop of add for AVX-512 with bf16 conversion.
#include "ops/add/simd_kernels.h"

namespace trireme {

AddKernel add_kernel_avx512_bf16(DType dtype) { return add_kernel_here(dtype); }

}  // namespace trireme
