// The oracle of grad_norm.
#include "ops/grad_norm/grad_norm.h"

#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace trireme {

void grad_norm_reference(const OpSig& sig, const Operands& operands) {
  const double clip_norm = unpack_attrs<GradNormAttrs>(sig.attrs).clip_norm;
  double* scalars = operands.out<double>(0);
  double squares = 0;
  for (int64_t i = 0; i < sig.inputs[0].shape[0]; ++i) squares += operands.in<double>(0)[i];
  const double norm = std::sqrt(squares) * scalar(scalars, StepScalar::inverse_tokens);
  scalar(scalars, StepScalar::norm) = norm;
  scalar(scalars, StepScalar::clip_scale) = clip_norm > 0 ? std::min(1.0, clip_norm / (norm + 1e-6)) : 1.0;
  scalar(scalars, StepScalar::finite) = std::isfinite(norm) ? 1.0 : 0.0;
}

}  // namespace trireme
