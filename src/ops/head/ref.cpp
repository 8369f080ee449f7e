// The oracle of the head: one row's logits at a time, those of a rank that has the whole vocabulary.
// tests/ops/ranks checks cut ones against it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/head/head.h"

namespace trireme {
namespace {

// z[v] = softcap(x . w[v])
void row_logits(const float* x, const float* w, double softcap, int64_t width, std::vector<float>& z) {
  const auto cap = static_cast<float>(softcap);
  for (size_t v = 0; v < z.size(); ++v) {
    float sum = 0.0f;
    for (int64_t c = 0; c < width; ++c) sum += x[c] * w[static_cast<int64_t>(v) * width + c];
    z[v] = softcap != 0.0 ? cap * std::tanh(sum / cap) : sum;
  }
}

// In f64: the loss of a token is a small difference of large numbers.
double log_sum_exp(const std::vector<float>& z) {
  const double top = *std::max_element(z.begin(), z.end());
  double sum = 0.0;
  for (const float value : z) sum += std::exp(value - top);
  return top + std::log(sum);
}

struct Gradients {
  const float* weight = nullptr;  // that the gradient goes back through
  float* dx = nullptr;
  float* dweight = nullptr;
};

// d loss / d logit = p (1 + 2 z_loss lse) - [v = target], through the cap: times 1 - (z / cap)^2. All of it
// times the row's weight.
void row_gradient(const HeadLossAttrs& a, const float* x, std::vector<float>& z, double lse, int32_t target,
                  const Gradients& out) {
  const float weight = is_further(target) ? static_cast<float>(a.further_weight) : 1.0f;
  const auto cap = static_cast<float>(a.softcap);
  for (int64_t v = 0; v < a.vocab - a.padding; ++v) {
    const float value = z[static_cast<size_t>(v)];
    auto d = static_cast<float>(std::exp(value - lse) * (1.0 + 2.0 * a.z_loss * lse)) -
             (v == target_id(target) ? 1.0f : 0.0f);
    if (a.softcap != 0.0) d *= 1.0f - (value / cap) * (value / cap);
    d *= weight;
    for (int64_t c = 0; c < a.width; ++c) {
      out.dx[c] += d * out.weight[v * a.width + c];
      out.dweight[v * a.width + c] += d * x[c];
    }
  }
}

void loss_of_rows(const HeadLossAttrs& a, int64_t rows, const Operands& operands, const int32_t* targets,
                  Gradients out) {
  const auto *x = operands.in<float>(0), *w = operands.in<float>(1);
  auto* loss = operands.out<double>(0);
  auto* nll = operands.out<float>(1);
  CHECK(a.on.ranks == 1, "the oracle of the head has no other ranks");
  std::vector<float> z(static_cast<size_t>(a.vocab - a.padding));
  loss[0] = loss[1] = 0.0;
  for (int64_t n = 0; n < rows; ++n, x += a.width) {
    nll[n] = 0.0f;
    Gradients row = out;
    if (out.dx != nullptr) {
      row.dx = out.dx + n * a.width;
      std::fill(row.dx, row.dx + a.width, 0.0f);
    }
    if (targets[n] == kIgnoredTarget) continue;
    row_logits(x, w, a.softcap, a.width, z);
    const double lse = log_sum_exp(z);
    const auto own = static_cast<float>(lse - z[static_cast<size_t>(target_id(targets[n]))]);
    const double z_term = a.z_loss * lse * lse;
    if (!is_further(targets[n])) nll[n] = own;
    loss[0] += nll[n];
    loss[1] += is_further(targets[n]) ? a.further_weight * (own + z_term) : z_term;
    if (out.dx != nullptr) row_gradient(a, x, z, lse, targets[n], row);
  }
}

}  // namespace

void reference_head_loss(const OpSig& sig, const Operands& operands) {
  loss_of_rows(unpack_attrs<HeadLossAttrs>(sig.attrs), count(sig.outputs[1].shape), operands,
               operands.in<int32_t>(2), {});
}

void reference_head_loss_grad(const OpSig& sig, const Operands& operands) {
  loss_of_rows(unpack_attrs<HeadLossAttrs>(sig.attrs), count(sig.outputs[1].shape), operands,
               operands.in<int32_t>(3),
               {operands.in<float>(2), operands.out<float>(2), operands.out<float>(3)});
}

void reference_head_logits(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<HeadLogitsAttrs>(sig.attrs);
  const int64_t batch = sig.inputs[0].shape[0], length = sig.inputs[0].shape[1];
  std::vector<float> z(static_cast<size_t>(a.vocab));
  for (int64_t b = 0; b < batch; ++b) {
    const float* last = operands.in<float>(0) + ((b + 1) * length - 1) * a.width;
    row_logits(last, operands.in<float>(1), a.softcap, a.width, z);
    std::copy(z.begin(), z.end(), operands.out<float>(0) + b * a.vocab);
  }
}

}  // namespace trireme
