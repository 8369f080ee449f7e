// Row sums for any x86-64, and the choice between the versions.
#include "ops/embedding/cpu_row_sums.h"

#include "ops/embedding/simd_kernels.h"

namespace trireme {

RowSums row_sums_baseline(DType dtype) { return row_sums_here(dtype); }

RowSums row_sums(CpuIsa isa, DType dtype) {
  if (isa >= CpuIsa::avx512) return row_sums_avx512(dtype);
  if (isa >= CpuIsa::avx2) return row_sums_avx2(dtype);
  return row_sums_baseline(dtype);
}

}  // namespace trireme
