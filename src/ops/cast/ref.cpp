// The oracle of cast: in f32 there is nothing to round.
#include <algorithm>

#include "ops/op.h"

namespace trireme {

void cast_reference(const OpSig& sig, const Operands& operands) {
  const float* x = operands.in<float>(0);
  std::copy(x, x + count(sig.inputs[0].shape), operands.out<float>(0));
}

}  // namespace trireme
