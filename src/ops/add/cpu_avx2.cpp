// The loop of add for AVX2.
#include "ops/add/simd_kernels.h"

namespace trireme {

AddKernel add_kernel_avx2(DType dtype) { return add_kernel_here(dtype); }

}  // namespace trireme
