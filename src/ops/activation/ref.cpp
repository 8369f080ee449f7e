// The oracle: the formulas of activation.h and their derivatives, in f64 so that the tails are right.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/activation/activation.h"
#include "ops/op.h"

namespace trireme {
namespace {

struct ValueAndSlope {
  double value, slope;
};

ValueAndSlope gelu_tanh(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi), cubic = 0.044715;
  const double t = std::tanh(scale * (x + cubic * x * x * x));
  return {x / 2 * (1 + t), (1 + t) / 2 + x / 2 * (1 - t * t) * scale * (1 + 3 * cubic * x * x)};
}

ValueAndSlope gelu(double x) {
  const double cumulative = std::erfc(-x / std::numbers::sqrt2) / 2;
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return {x * cumulative, cumulative + x * density};
}

ValueAndSlope relu2(double x) {
  const double positive = std::max(x, 0.0);
  return {positive * positive, 2 * positive};
}

ValueAndSlope evaluate(const std::string& kind, double x) {
  return kind == "gelu_tanh" ? gelu_tanh(x) : kind == "gelu" ? gelu(x) : relu2(x);
}

}  // namespace

void activation_reference(const OpSig& sig, const Operands& operands) {
  const auto kind = unpack_attrs<ActivationAttrs>(sig.attrs).kind;
  const float* x = operands.in<float>(0);
  float* y = operands.out<float>(0);
  for (int64_t i = 0; i < count(sig.inputs[0].shape); ++i)
    y[i] = static_cast<float>(evaluate(kind, x[i]).value);
}

void activation_grad_reference(const OpSig& sig, const Operands& operands) {
  const auto kind = unpack_attrs<ActivationAttrs>(sig.attrs).kind;
  const float* x = operands.in<float>(0);
  const float* dy = operands.in<float>(1);
  float* dx = operands.out<float>(0);
  for (int64_t i = 0; i < count(sig.inputs[0].shape); ++i)
    dx[i] = static_cast<float>(evaluate(kind, x[i]).slope * dy[i]);
}

}  // namespace trireme
