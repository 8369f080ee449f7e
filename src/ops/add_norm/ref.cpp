// The oracles of add_layernorm and add_rmsnorm: the sum, then the plain norm's oracle.
#include <array>

#include "ops/op.h"

namespace trireme {

void layernorm_reference(const OpSig& sig, const Operands& operands);
void rmsnorm_reference(const OpSig& sig, const Operands& operands);

namespace {

void add_up(const OpSig& sig, const Operands& operands) {
  const float *a = operands.in<float>(0), *b = operands.in<float>(1);
  float* sum = operands.out<float>(0);
  for (int64_t i = 0; i < count(sig.inputs[0].shape); ++i) sum[i] = a[i] + b[i];
}

}  // namespace

void add_layernorm_reference(const OpSig& sig, const Operands& o) {
  add_up(sig, o);
  const OpSig norm{"layernorm", sig.attrs, {sig.inputs[0], sig.inputs[2], sig.inputs[3]}, {}};
  const std::array<void*, 3> inputs = {o.outputs[0], o.inputs[2], o.inputs[3]};
  layernorm_reference(norm, {inputs, o.outputs.subspan(1), nullptr});
}

void add_rmsnorm_reference(const OpSig& sig, const Operands& o) {
  add_up(sig, o);
  const OpSig norm{"rmsnorm", sig.attrs, {sig.inputs[0], sig.inputs[2]}, {}};
  const std::array<void*, 2> inputs = {o.outputs[0], o.inputs[2]};
  rmsnorm_reference(norm, {inputs, o.outputs.subspan(1), nullptr});
}

}  // namespace trireme
