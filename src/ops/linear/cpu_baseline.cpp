// The bias gradient's kernel that every x86-64 can run.
#include "ops/linear/column_sums.h"
#include "ops/linear/simd_kernels.h"

namespace trireme {

ColumnSums column_sums_baseline() { return {add_column_sums<float>, add_column_sums<bf16>}; }

}  // namespace trireme
