// The head's softmax kernel that every x86-64 can run.
#include "ops/head/row_loss.h"
#include "ops/head/simd_kernels.h"

namespace trireme {

RowKernels row_kernels_baseline() { return {row_loss<float>, row_loss<bf16>, cap_row}; }

}  // namespace trireme
