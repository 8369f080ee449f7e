// The head's softmax kernels that every x86-64 can run.
#include "ops/head/row_loss.h"
#include "ops/head/simd_kernels.h"

namespace trireme {

RowKernels row_kernels_baseline() { return row_kernels_here(); }

}  // namespace trireme
