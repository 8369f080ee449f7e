// The oracles of add_bias and its gradient.
#include "ops/op.h"

namespace trireme {

void add_bias_reference(const OpSig& sig, const Operands& operands) {
  const int64_t n = count(sig.inputs[0].shape), width = sig.inputs[0].shape.back();
  const auto *x = operands.in<float>(0), *bias = operands.in<float>(1);
  for (int64_t i = 0; i < n; ++i) operands.out<float>(0)[i] = x[i] + bias[i % width];
}

void add_bias_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t n = count(sig.inputs[0].shape), width = sig.inputs[0].shape.back();
  for (int64_t i = 0; i < n; ++i) operands.out<float>(0)[i % width] += operands.in<float>(0)[i];
}

}  // namespace trireme
