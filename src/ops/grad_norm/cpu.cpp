// grad_norm on the CPU: one thread, partial sums in index order.
#include "ops/grad_norm/grad_norm.h"

#include <algorithm>
#include <cmath>

#include "device/cpu/kernels.h"

namespace trireme {

CpuKernel prepare_grad_norm(const OpSig& sig, const CpuContext&) {
  const double clip_norm = unpack_attrs<GradNormAttrs>(sig.attrs).clip_norm;
  return [clip_norm, n = sig.inputs[0].shape[0]](const Operands& operands) {
    const double* partials = operands.in<double>(0);
    double* scalars = operands.out<double>(0);
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += partials[i];
    const double norm = std::sqrt(squares) * scalar(scalars, StepScalar::inverse_tokens);
    const bool finite = std::isfinite(norm);
    const bool clips = clip_norm > 0 && finite;
    scalar(scalars, StepScalar::norm) = norm;
    scalar(scalars, StepScalar::clip_scale) = clips ? std::min(1.0, clip_norm / (norm + 1e-6)) : 1.0;
    scalar(scalars, StepScalar::finite) = finite ? 1.0 : 0.0;
  };
}

}  // namespace trireme
