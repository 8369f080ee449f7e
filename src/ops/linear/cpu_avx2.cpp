// The bias gradient's kernel for AVX2.
#include "ops/linear/column_sums.h"
#include "ops/linear/simd_kernels.h"

namespace trireme {

ColumnSums column_sums_avx2() { return {add_column_sums<float>, add_column_sums<bf16>}; }

}  // namespace trireme
