// The oracle of sum_squares.
#include "ops/sum_squares/sum_squares.h"

#include <algorithm>

#include "ops/op.h"

namespace trireme {

void sum_squares_reference(const OpSig& sig, const Operands& operands) {
  const int64_t n = sig.inputs[0].shape[0];
  const float* x = operands.in<float>(0);
  for (int64_t p = 0; p < sig.outputs[0].shape[0]; ++p) {
    double sum = 0;
    for (int64_t i = p * kSquaresPerPartial; i < std::min(n, (p + 1) * kSquaresPerPartial); ++i)
      sum += double{x[i]} * x[i];
    operands.out<double>(0)[p] = sum;
  }
}

}  // namespace trireme
