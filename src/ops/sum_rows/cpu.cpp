// sum_rows on the CPU: a few numbers, one thread.
#include "ops/sum_rows/sum_rows.h"

#include <bit>

#include "device/cpu/kernels.h"

namespace trireme {
namespace {

// The sum of `lanes` neighbouring lanes of `rows` rows each, as a tree.
double lane_tree(const double* x, int64_t lanes, int64_t rows, int64_t stride) {
  if (lanes > 1) {
    const auto left = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(lanes - 1)));
    return lane_tree(x, left, rows, stride) + lane_tree(x + left * rows * stride, lanes - left, rows, stride);
  }
  double sum = 0;
  for (int64_t n = 0; n < rows; ++n) sum += x[n * stride];
  return sum;
}

}  // namespace

CpuKernel prepare_sum_rows(const OpSig& sig, const CpuContext&) {
  const int64_t lanes = unpack_attrs<SumRowsAttrs>(sig.attrs).lanes;
  return [lanes, rows = sig.inputs[0].shape[0], columns = sig.inputs[0].shape[1]](const Operands& operands) {
    for (int64_t k = 0; k < columns; ++k)
      operands.out<double>(0)[k] = lane_tree(operands.in<double>(0) + k, lanes, rows / lanes, columns);
  };
}

}  // namespace trireme
