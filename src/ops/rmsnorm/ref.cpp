// The oracle of rmsnorm, row by row; sums over a row in f64.
#include <cmath>

#include "ops/layernorm/norm.h"
#include "ops/op.h"

namespace trireme {

void rmsnorm_reference(const OpSig& sig, const Operands& operands) {
  const int64_t C = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / C;
  const double eps = unpack_attrs<NormAttrs>(sig.attrs).eps;
  const float* weight = operands.in<float>(1);
  for (int64_t row = 0; row < rows; ++row) {
    const float* x = operands.in<float>(0) + row * C;
    float* y = operands.out<float>(0) + row * C;
    double squares = 0;
    for (int64_t i = 0; i < C; ++i) squares += double{x[i]} * x[i];
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(C) + eps);
    for (int64_t i = 0; i < C; ++i) y[i] = static_cast<float>(x[i] * rstd * weight[i]);
    operands.out<float>(1)[row] = static_cast<float>(rstd);
  }
}

// With xhat = x rstd and g = dy w: dx = rstd (g - xhat mean(g xhat)) + residual_grad;
// dweight += sum over rows of dy xhat.
void rmsnorm_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t C = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / C;
  const auto *weight = operands.in<float>(1), *residual = operands.in<float>(4);
  auto* dweight = operands.out<float>(1);
  for (int64_t row = 0; row < rows; ++row) {
    const float *x = operands.in<float>(0) + row * C, *dy = operands.in<float>(3) + row * C;
    float* dx = operands.out<float>(0) + row * C;
    const double rstd = operands.in<float>(2)[row];
    double along = 0;
    for (int64_t i = 0; i < C; ++i) along += double{dy[i]} * weight[i] * x[i] * rstd;
    for (int64_t i = 0; i < C; ++i) {
      const double xhat = x[i] * rstd, g = double{dy[i]} * weight[i];
      const double d = rstd * (g - xhat * along / static_cast<double>(C));
      dx[i] = static_cast<float>(residual != nullptr ? d + residual[row * C + i] : d);
      dweight[i] += static_cast<float>(dy[i] * xhat);
    }
  }
}

}  // namespace trireme
