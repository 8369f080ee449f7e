// The oracle of adamw: constants of the step in f64, elements in f32.
#include "ops/adamw/adamw.h"

#include <cmath>

#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"

namespace trireme {

void adamw_reference(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<AdamwAttrs>(sig.attrs);
  const double* s = operands.in<double>(1);
  if (scalar(s, StepScalar::finite) == 0) return;
  const double lr = scalar(s, StepScalar::lr);
  const auto inverse_tokens = static_cast<float>(scalar(s, StepScalar::inverse_tokens));
  const auto clip = static_cast<float>(scalar(s, StepScalar::clip_scale));
  const auto keep = static_cast<float>(1 - lr * a.weight_decay);
  const auto step = static_cast<float>(lr / scalar(s, StepScalar::bias1));
  const auto root_bias2 = static_cast<float>(std::sqrt(scalar(s, StepScalar::bias2)));
  const auto fresh1 = static_cast<float>(1 - a.beta1), fresh2 = static_cast<float>(1 - a.beta2);
  const float* grad = operands.in<float>(0);
  float *param = operands.out<float>(0), *m = operands.out<float>(1), *v = operands.out<float>(2);
  for (int64_t i = 0; i < sig.inputs[0].shape[0]; ++i) {
    const float g = grad[i] * inverse_tokens * clip;
    m[i] += fresh1 * (g - m[i]);
    v[i] = v[i] * static_cast<float>(a.beta2) + fresh2 * g * g;
    const float denominator = std::sqrt(v[i]) / root_bias2 + static_cast<float>(a.eps);
    param[i] = param[i] * keep - step * m[i] / denominator;
  }
}

}  // namespace trireme
