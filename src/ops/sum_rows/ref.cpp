// The oracle of sum_rows.
#include "ops/op.h"

namespace trireme {

void sum_rows_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = sig.inputs[0].shape[0], columns = sig.inputs[0].shape[1];
  const double* x = operands.in<double>(0);
  for (int64_t k = 0; k < columns; ++k) {
    double sum = 0;
    for (int64_t n = 0; n < rows; ++n) sum += x[n * columns + k];
    operands.out<double>(0)[k] = sum;
  }
}

}  // namespace trireme
