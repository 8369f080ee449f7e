// The oracle of sum_rows: the sums of the lanes, then neighbours added until one is left; an odd last
// one goes on as it is.
#include <vector>

#include "ops/op.h"
#include "ops/sum_rows/sum_rows.h"

namespace trireme {

void sum_rows_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = sig.inputs[0].shape[0], columns = sig.inputs[0].shape[1];
  const int64_t lanes = unpack_attrs<SumRowsAttrs>(sig.attrs).lanes;
  const double* x = operands.in<double>(0);
  for (int64_t k = 0; k < columns; ++k) {
    std::vector<double> sums(static_cast<size_t>(lanes));
    for (int64_t n = 0; n < rows; ++n) sums[static_cast<size_t>(n / (rows / lanes))] += x[n * columns + k];
    while (sums.size() > 1) {
      for (size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
      if (sums.size() % 2 == 1) sums[sums.size() / 2] = sums.back();
      sums.resize((sums.size() + 1) / 2);
    }
    operands.out<double>(0)[k] = sums[0];
  }
}

}  // namespace trireme
