// rmsnorm and rmsnorm_grad on the CPU.
#include "ops/layernorm/cpu_rows.h"

namespace trireme {

CpuKernel prepare_rmsnorm(const OpSig& sig, const CpuContext& context) {
  return prepare_norm(sig, context, NormKind::rms, NormInput::one);
}

CpuKernel prepare_rmsnorm_grad(const OpSig& sig, const CpuContext& context) {
  return prepare_norm_grad(sig, context, NormKind::rms);
}

}  // namespace trireme
