// sum_rows on the CPU: a few numbers, one thread.
#include <algorithm>

#include "device/cpu/kernels.h"

namespace trireme {

CpuKernel prepare_sum_rows(const OpSig& sig, const CpuContext&) {
  return [rows = sig.inputs[0].shape[0], columns = sig.inputs[0].shape[1]](const Operands& operands) {
    const double* x = operands.in<double>(0);
    double* y = operands.out<double>(0);
    std::fill_n(y, columns, 0.0);
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t k = 0; k < columns; ++k) y[k] += x[n * columns + k];
  };
}

}  // namespace trireme
