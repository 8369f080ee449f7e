// The oracle of layernorm, row by row; sums over a row in f64.
#include <cmath>

#include "ops/layernorm/norm.h"
#include "ops/op.h"

namespace trireme {

void layernorm_reference(const OpSig& sig, const Operands& operands) {
  const int64_t C = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / C;
  const double eps = unpack_attrs<NormAttrs>(sig.attrs).eps;
  const float *weight = operands.in<float>(1), *bias = operands.in<float>(2);
  for (int64_t row = 0; row < rows; ++row) {
    const float* x = operands.in<float>(0) + row * C;
    float* y = operands.out<float>(0) + row * C;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < C; ++i) sum += x[i];
    const double mean = sum / static_cast<double>(C);
    for (int64_t i = 0; i < C; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(C) + eps);
    for (int64_t i = 0; i < C; ++i)
      y[i] = static_cast<float>((x[i] - mean) * rstd * weight[i] + (bias != nullptr ? bias[i] : 0.0f));
    operands.out<float>(1)[row] = static_cast<float>(mean);
    operands.out<float>(2)[row] = static_cast<float>(rstd);
  }
}

// With xhat = (x - mean) rstd and g = dy w: dx = rstd (g - mean(g) - xhat mean(g xhat)) + residual_grad;
// dweight += sum over rows of dy xhat; dbias += sum over rows of dy.
void layernorm_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t C = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / C;
  const auto *weight = operands.in<float>(1), *residual = operands.in<float>(5);
  auto *dweight = operands.out<float>(1), *dbias = operands.out<float>(2);
  for (int64_t row = 0; row < rows; ++row) {
    const float *x = operands.in<float>(0) + row * C, *dy = operands.in<float>(4) + row * C;
    float* dx = operands.out<float>(0) + row * C;
    const double mean = operands.in<float>(2)[row], rstd = operands.in<float>(3)[row];
    double g_sum = 0, along = 0;
    for (int64_t i = 0; i < C; ++i) {
      const double g = double{dy[i]} * weight[i];
      g_sum += g;
      along += g * (x[i] - mean) * rstd;
    }
    for (int64_t i = 0; i < C; ++i) {
      const double xhat = (x[i] - mean) * rstd, g = double{dy[i]} * weight[i];
      const double d = rstd * (g - (g_sum + xhat * along) / static_cast<double>(C));
      dx[i] = static_cast<float>(residual != nullptr ? d + residual[row * C + i] : d);
      dweight[i] += static_cast<float>(dy[i] * xhat);
      if (dbias != nullptr) dbias[i] += dy[i];
    }
  }
}

}  // namespace trireme
