// The bias gradient's kernel, one per instruction set: sum[o] += sum_n dy[n,o] for o in [begin,end).
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct ColumnSums {
  void (*of_f32)(const float* dy, int64_t rows, int64_t width, int64_t begin, int64_t end, float* sum);
  void (*of_bf16)(const bf16* dy, int64_t rows, int64_t width, int64_t begin, int64_t end, float* sum);
};

ColumnSums column_sums_baseline();
ColumnSums column_sums_avx2();
ColumnSums column_sums_avx512();

}  // namespace trireme
