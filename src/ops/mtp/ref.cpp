// The oracles of mtp_targets, stack_batch and unstack_batch.
#include "ops/head/head.h"

namespace trireme {

void mtp_targets_reference(const OpSig& sig, const Operands& operands) {
  const int64_t batch = sig.inputs[0].shape[0], length = sig.inputs[0].shape[1];
  const int32_t* targets = operands.in<int32_t>(0);
  for (int64_t n = 0; n < batch * length; ++n) {
    const int32_t target = targets[n];
    const int32_t after = n % length + 1 < length ? targets[n + 1] : kIgnoredTarget;
    operands.out<int32_t>(0)[n] = target < 0 ? 0 : target;
    operands.out<int32_t>(1)[n] = target;
    operands.out<int32_t>(1)[batch * length + n] =
        target < 0 || after < 0 ? kIgnoredTarget : further_target(after);
  }
}

void stack_batch_reference(const OpSig& sig, const Operands& operands) {
  const int64_t n = count(sig.inputs[0].shape);
  for (int64_t i = 0; i < n; ++i) {
    operands.out<float>(0)[i] = operands.in<float>(0)[i];
    operands.out<float>(0)[n + i] = operands.in<float>(1)[i];
  }
}

void unstack_batch_reference(const OpSig& sig, const Operands& operands) {
  const int64_t n = count(sig.outputs[0].shape);
  for (int64_t i = 0; i < n; ++i) {
    operands.out<float>(0)[i] = operands.in<float>(0)[i];
    operands.out<float>(1)[i] = operands.in<float>(0)[n + i];
  }
}

}  // namespace trireme
