// The oracle of expert_bias, and what the CPU runs: a few hundred numbers per step.
#include <algorithm>
#include <numeric>

#include "ops/expert_bias/expert_bias.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"

namespace trireme {

void expert_bias_reference(const OpSig& sig, const Operands& operands) {
  if (scalar(operands.in<double>(1), StepScalar::finite) == 0) return;
  const auto rate = static_cast<float>(unpack_attrs<ExpertBiasAttrs>(sig.attrs).rate);
  const int64_t experts = sig.inputs[0].shape[1];
  const float* load = operands.in<float>(0);
  float *state = operands.out<float>(0), *last = operands.out<float>(1);
  const double mean = std::accumulate(load, load + experts, 0.0) / static_cast<double>(experts);
  for (int64_t e = 0; e < experts; ++e) {
    const double below = mean - static_cast<double>(load[e]);
    state[e] += below > 0 ? rate : below < 0 ? -rate : 0.0f;
  }
  std::copy_n(load, 2 * experts, last);
}

}  // namespace trireme
