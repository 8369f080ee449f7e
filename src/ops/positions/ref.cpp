// The oracle of positions and positions_grad.
#include "ops/op.h"

namespace trireme {

void positions_reference(const OpSig& sig, const Operands& operands) {
  const Shape& shape = sig.inputs[0].shape;
  const int64_t rows = shape[0] * shape[1], length = shape[1], width = shape[2];
  const float* x = operands.in<float>(0);
  const float* table = operands.in<float>(1);
  const int32_t* positions = operands.in<int32_t>(2);
  float* y = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t p = positions != nullptr ? positions[r] : r % length;
    for (int64_t c = 0; c < width; ++c) y[r * width + c] = x[r * width + c] + table[p * width + c];
  }
}

void positions_grad_reference(const OpSig& sig, const Operands& operands) {
  const Shape& shape = sig.inputs[0].shape;
  const int64_t rows = shape[0] * shape[1], length = shape[1], width = shape[2];
  const float* dy = operands.in<float>(0);
  const int32_t* positions = operands.in<int32_t>(1);
  float* dtable = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t p = positions != nullptr ? positions[r] : r % length;
    for (int64_t c = 0; c < width; ++c) dtable[p * width + c] += dy[r * width + c];
  }
}

}  // namespace trireme
