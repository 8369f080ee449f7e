// The oracle of sgd: constants of the step in f64, elements in f32.
#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"
#include "ops/sgd/sgd.h"

namespace trireme {

void sgd_reference(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<SgdAttrs>(sig.attrs);
  const double* s = operands.in<double>(1);
  if (scalar(s, StepScalar::finite) == 0) return;
  const double lr = scalar(s, StepScalar::lr);
  const auto inverse_tokens = static_cast<float>(scalar(s, StepScalar::inverse_tokens));
  const auto clip = static_cast<float>(scalar(s, StepScalar::clip_scale));
  const auto keep = static_cast<float>(1 - lr * a.weight_decay);
  const auto step = static_cast<float>(lr), momentum = static_cast<float>(a.momentum);
  const float* grad = operands.in<float>(0);
  float *param = operands.out<float>(0), *m = operands.out<float>(1);
  for (int64_t i = 0; i < sig.inputs[0].shape[0]; ++i) {
    const float g = grad[i] * inverse_tokens * clip;
    m[i] = m[i] * momentum + g;
    param[i] = param[i] * keep - step * m[i];
  }
}

}  // namespace trireme
