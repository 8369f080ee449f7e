// The oracle: look-up, and its adjoint as a sum over positions.
#include "ops/op.h"

namespace trireme {

void embedding_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = count(sig.inputs[0].shape), width = sig.inputs[1].shape[1];
  const int32_t* tokens = operands.in<int32_t>(0);
  const float* table = operands.in<float>(1);
  float* y = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c) y[r * width + c] = table[tokens[r] * width + c];
}

void embedding_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = count(sig.inputs[0].shape), width = sig.inputs[1].shape[2];
  const int32_t* tokens = operands.in<int32_t>(0);
  const float* dy = operands.in<float>(1);
  float* dtable = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c) dtable[tokens[r] * width + c] += dy[r * width + c];
}

}  // namespace trireme
