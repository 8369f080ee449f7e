// The oracle of experts and experts_grad, of one rank.
#include <cmath>
#include <vector>

#include "ops/experts/experts.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

// The choices that are not dropped, by expert, then in order.
std::vector<int64_t> sorted_choices(const int32_t* ids, int64_t choices, int64_t experts) {
  std::vector<int64_t> sorted;
  for (int64_t e = 0; e < experts; ++e)
    for (int64_t c = 0; c < choices; ++c)
      if (ids[c] == e) sorted.push_back(c);
  return sorted;
}

// Expert e's weight; the oracle's packed form is the plain one with zeros behind.
const float* weight_of(const TensorType& type, const ExpertsSizes& s, const float* weights, int64_t e) {
  return weights + e * (count(type.shape) / s.owned);
}

float silu(float x) { return x / (1 + std::exp(-x)); }
float silu_slope(float x) {
  const float sigmoid = 1 / (1 + std::exp(-x));
  return sigmoid * (1 + x * (1 - sigmoid));
}

}  // namespace

void reference_experts(const OpSig& sig, const Operands& operands) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  const int64_t C = s.width, F = s.ffn;
  const auto *x = operands.in<float>(0), *weights = operands.in<float>(2);
  const auto* ids = operands.in<int32_t>(1);
  auto *y = operands.out<float>(0), *hidden = operands.out<float>(2);
  auto* plan = operands.out<int32_t>(3);
  for (int64_t i = 0; i < s.tokens * C; ++i) y[i] = 0;
  for (int64_t e = 0; e < s.experts; ++e) plan[e] = 0;
  for (const int64_t choice : sorted_choices(ids, s.choices(), s.experts)) {
    const int64_t e = ids[choice], token = choice / s.top_k;
    const float* gate_up = weight_of(sig.inputs[3], s, operands.in<float>(3), e);
    const float* down = weight_of(sig.inputs[4], s, operands.in<float>(4), e);
    plan[e] += 1;
    for (int64_t h = 0; h < 2 * F; ++h) {
      hidden[h] = 0;
      for (int64_t c = 0; c < C; ++c) hidden[h] += gate_up[h * C + c] * x[token * C + c];
    }
    for (int64_t c = 0; c < C; ++c) {
      float sum = 0;
      for (int64_t f = 0; f < F; ++f)
        sum += down[c * F + f] * silu(hidden[f]) * hidden[F + f] * weights[choice];
      y[token * C + c] += sum;
    }
    hidden += 2 * F;
  }
}

void reference_experts_grad(const OpSig& sig, const Operands& operands) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  const int64_t C = s.width, F = s.ffn;
  const auto *all_dy = operands.in<float>(0), *weights = operands.in<float>(2),
             *hidden = operands.in<float>(4), *x = operands.in<float>(7);
  const auto* ids = operands.in<int32_t>(1);
  auto *dx = operands.out<float>(0), *dweights = operands.out<float>(1);
  for (int64_t i = 0; i < s.tokens * C; ++i) dx[i] = 0;
  for (int64_t i = 0; i < s.choices(); ++i) dweights[i] = 0;
  for (const int64_t choice : sorted_choices(ids, s.choices(), s.experts)) {
    const int64_t e = ids[choice], token = choice / s.top_k;
    const float* gate_up = weight_of(sig.inputs[5], s, operands.in<float>(5), e);
    const float* down = weight_of(sig.inputs[6], s, operands.in<float>(6), e);
    float *dgate_up = operands.out<float>(2) + e * 2 * F * C, *ddown = operands.out<float>(3) + e * C * F;
    const float *dy = all_dy + token * C, weight = weights[choice];
    std::vector<float> dhidden(static_cast<size_t>(2 * F));
    for (int64_t f = 0; f < F; ++f) {
      const float gate = hidden[f], up = hidden[F + f];
      float dgated = 0;  // of weight * silu(gate) * up
      for (int64_t c = 0; c < C; ++c) {
        dgated += down[c * F + f] * dy[c];
        ddown[c * F + f] += dy[c] * weight * silu(gate) * up;
      }
      dweights[choice] += dgated * silu(gate) * up;
      dhidden[static_cast<size_t>(f)] = dgated * weight * up * silu_slope(gate);
      dhidden[static_cast<size_t>(F + f)] = dgated * weight * silu(gate);
    }
    for (int64_t h = 0; h < 2 * F; ++h)
      for (int64_t c = 0; c < C; ++c) {
        dx[token * C + c] += dhidden[static_cast<size_t>(h)] * gate_up[h * C + c];
        dgate_up[h * C + c] += dhidden[static_cast<size_t>(h)] * x[token * C + c];
      }
    hidden += 2 * F;
  }
}

}  // namespace trireme
