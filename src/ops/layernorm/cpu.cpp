// layernorm and layernorm_grad on the CPU.
#include "ops/layernorm/cpu_rows.h"

namespace trireme {

CpuKernel prepare_layernorm(const OpSig& sig, const CpuContext& context) {
  return prepare_norm(sig, context, NormKind::layer, NormInput::one);
}

CpuKernel prepare_layernorm_grad(const OpSig& sig, const CpuContext& context) {
  return prepare_norm_grad(sig, context, NormKind::layer);
}

}  // namespace trireme
