// The head's softmax kernels for AVX2.
#include "ops/head/row_loss.h"
#include "ops/head/simd_kernels.h"

namespace trireme {

RowKernels row_kernels_avx2() { return row_kernels_here(); }

}  // namespace trireme
