// The bias gradient: sum[o] += sum_n dy[n,o] for o in [begin,end), one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct ColumnSums {
  void (*of_f32)(const float* dy, int64_t rows, int64_t width, int64_t begin, int64_t end, float* sum);
  void (*of_bf16)(const bf16* dy, int64_t rows, int64_t width, int64_t begin, int64_t end, float* sum);
};

struct CpuContext;
struct TensorType;

// All columns of dy, shared out among the threads.
void sum_columns(const CpuContext& context, const TensorType& type, const void* dy, float* sum);

ColumnSums column_sums_baseline();
ColumnSums column_sums_avx2();
ColumnSums column_sums_avx512();

}  // namespace trireme
