// expert_bias on the CPU: too little to share out.
#include "device/cpu/kernels.h"

namespace trireme {

void expert_bias_reference(const OpSig& sig, const Operands& operands);

CpuKernel prepare_expert_bias(const OpSig& sig, const CpuContext&) {
  return [sig](const Operands& operands) { expert_bias_reference(sig, operands); };
}

}  // namespace trireme
