// The oracle of swiglu and swiglu_grad.
#include <cmath>

#include "ops/op.h"

namespace trireme {

void swiglu_reference(const OpSig& sig, const Operands& operands) {
  const int64_t width = sig.outputs[0].shape.back(), rows = count(sig.outputs[0].shape) / width;
  const float* gate_up = operands.in<float>(0);
  float* y = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t f = 0; f < width; ++f) {
      const float gate = gate_up[r * 2 * width + f], up = gate_up[r * 2 * width + width + f];
      y[r * width + f] = gate / (1 + std::exp(-gate)) * up;
    }
}

void swiglu_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t width = sig.inputs[1].shape.back(), rows = count(sig.inputs[1].shape) / width;
  const float* gate_up = operands.in<float>(0);
  const float* dy = operands.in<float>(1);
  float* dgate_up = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t f = 0; f < width; ++f) {
      const int64_t at = r * 2 * width + f;
      const float gate = gate_up[at], up = gate_up[at + width], d = dy[r * width + f];
      const float sigmoid = 1 / (1 + std::exp(-gate));
      dgate_up[at] = d * up * sigmoid * (1 + gate * (1 - sigmoid));
      dgate_up[at + width] = d * gate * sigmoid;
    }
}

}  // namespace trireme
