// add_layernorm and add_rmsnorm on the CPU.
#include "ops/layernorm/cpu_rows.h"

namespace trireme {

CpuKernel prepare_add_layernorm(const OpSig& sig, const CpuContext& context) {
  return prepare_norm(sig, context, NormKind::layer, NormInput::sum);
}

CpuKernel prepare_add_rmsnorm(const OpSig& sig, const CpuContext& context) {
  return prepare_norm(sig, context, NormKind::rms, NormInput::sum);
}

}  // namespace trireme
