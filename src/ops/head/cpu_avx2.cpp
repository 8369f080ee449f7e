// The head's softmax kernel for AVX2.
#include "ops/head/row_loss.h"
#include "ops/head/simd_kernels.h"

namespace trireme {

RowKernels row_kernels_avx2() { return {row_loss<float>, row_loss<bf16>, cap_row}; }

}  // namespace trireme
