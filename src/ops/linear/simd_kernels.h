// The bias gradient: sums of the columns of dy. Included once per instruction set.
#pragma once
#include "device/cpu/simd.h"

namespace trireme {
namespace {

// sum[o] += sum_n dy[n,o] for o in [begin,end), rows in order, 32 of them at a time.
template <class T>
void add_column_sums(const T* dy, int64_t rows, int64_t width, int64_t begin, int64_t end, float* sum) {
  constexpr int kVectors = 4, kRows = 32;
  for (int64_t o = begin; o < end; o += kVectors * simd::kLanes) {
    simd::F32x16 total[kVectors] = {};
    for (int64_t first = 0; first < rows; first += kRows) {
      const int64_t last = first + kRows < rows ? first + kRows : rows;
      simd::F32x16 part[kVectors] = {};
      for (int64_t n = first; n < last; ++n)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          const int64_t at = o + v * simd::kLanes;
          if (at < end) part[v] += simd::load(dy + n * width + at, end - at);
        }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) total[v] += part[v];
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = o + v * simd::kLanes;
      if (at < end) simd::store(sum + at, simd::load(sum + at, end - at) + total[v], end - at);
    }
  }
}

}  // namespace
}  // namespace trireme
