// The oracle of router and router_grad: one token after another.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/router/router.h"

namespace trireme {
namespace {

using Floats = std::vector<float>;

size_t at(int64_t i) { return static_cast<size_t>(i); }

// The logits of a token: l[e] = sum_c x[c] w[e,c].
Floats logits_of(const float* x, const float* weight, int64_t experts, int64_t width) {
  Floats logits(at(experts));
  for (int64_t e = 0; e < experts; ++e)
    for (int64_t c = 0; c < width; ++c) logits[at(e)] += x[c] * weight[e * width + c];
  return logits;
}

float log_sum_exp(const Floats& logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0.0f;
  for (const float l : logits) sum += std::exp(l - largest);
  return largest + std::log(sum);
}

// The positions of the `n` largest, largest first; of equal ones the first.
std::vector<int64_t> largest(const Floats& values, int64_t n) {
  std::vector<int64_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return values[at(a)] > values[at(b)]; });
  order.resize(at(n));
  return order;
}

// The biased scores with minus infinity for the experts of groups that may not be chosen.
Floats of_best_groups(const RouterAttrs& a, Floats biased) {
  const int64_t size = a.experts / a.groups;
  Floats worth;
  for (int64_t g = 0; g < a.groups; ++g) {
    const Floats group(biased.begin() + g * size, biased.begin() + (g + 1) * size);
    float sum = 0.0f;
    for (const int64_t i : largest(group, std::min<int64_t>(2, size))) sum += group[at(i)];
    worth.push_back(sum);
  }
  const std::vector<int64_t> best = largest(worth, a.top_groups);
  for (int64_t e = 0; e < a.experts; ++e)
    if (std::find(best.begin(), best.end(), e / size) == best.end()) biased[at(e)] = -INFINITY;
  return biased;
}

// The weights of the chosen: from softmax-ed logits directly, so that small ones keep their digits.
Floats weights_of(const RouterAttrs& a, const std::vector<int64_t>& chosen, const Floats& logits,
                  const Floats& scores) {
  Floats weights;
  for (const int64_t e : chosen) weights.push_back(scores[at(e)]);
  if (normalizes(a)) {
    float most = -INFINITY, sum = a.score == "softmax" ? 0.0f : kLeastSum;
    for (const int64_t e : chosen) most = std::max(most, logits[at(e)]);
    if (a.score == "softmax")
      for (size_t j = 0; j < weights.size(); ++j) weights[j] = std::exp(logits[at(chosen[j])] - most);
    for (const float w : weights) sum += w;
    for (float& w : weights) w /= sum;
  }
  for (float& w : weights) w *= static_cast<float>(a.scale);
  return weights;
}

}  // namespace

void reference_router(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<RouterAttrs>(sig.attrs);
  const Shape& shape = sig.inputs[0].shape;
  const int64_t tokens = shape[0] * shape[1], width = shape[2], E = a.experts, k = a.top_k;
  const auto *x = operands.in<float>(0), *weight = operands.in<float>(1);
  const float* state = operands.inputs.size() > 2 ? operands.in<float>(2) : nullptr;
  auto* ids = operands.out<int32_t>(0);
  auto *weights = operands.out<float>(1), *scores = operands.out<float>(2), *counts = operands.out<float>(3);
  std::fill(counts, counts + count(sig.outputs[3].shape), 0.0f);
  std::vector<int64_t> taken(at(E));
  for (int64_t t = 0; t < tokens; ++t) {
    const Floats logits = logits_of(x + t * width, weight, E, width);
    const float lse = log_sum_exp(logits);
    Floats score, biased;
    for (const float l : logits)
      score.push_back(a.score == "softmax" ? std::exp(l - lse) : 1 / (1 + std::exp(-l)));
    std::copy(score.begin(), score.end(), scores + t * E);
    for (int64_t e = 0; e < E; ++e) biased.push_back(score[at(e)] + (state != nullptr ? state[e] : 0.0f));
    const std::vector<int64_t> chosen = largest(of_best_groups(a, biased), k);
    const Floats w = weights_of(a, chosen, logits, score);
    float* row = counts + (a.counts_per == "sequence" ? t / shape[1] * E : 0);
    for (int64_t j = 0; j < k; ++j) {
      const int64_t e = chosen[at(j)];
      const bool room = taken[at(e)]++ < expert_capacity(a, tokens);
      row[e] += 1;
      ids[t * k + j] = static_cast<int32_t>(room ? e : ~e);
      weights[t * k + j] = room ? w[at(j)] : 0.0f;
    }
  }
}

namespace {

// The gradient of the logits from that of the scores.
Floats through_score(const RouterAttrs& a, const float* scores, const Floats& dscores) {
  Floats dlogits(at(a.experts));
  float mean = 0.0f;
  for (int64_t e = 0; e < a.experts; ++e) mean += dscores[at(e)] * scores[e];
  for (int64_t e = 0; e < a.experts; ++e)
    dlogits[at(e)] = a.score == "softmax" ? scores[e] * (dscores[at(e)] - mean)
                                          : dscores[at(e)] * scores[e] * (1 - scores[e]);
  return dlogits;
}

}  // namespace

// With w_j = s_j / S over the chosen, dL/ds_j = (g_j - sum_i g_i w_i) / S; g_j is 0 for dropped choices,
// whose scores are in S nevertheless.
void reference_router_grad(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<RouterAttrs>(sig.attrs);
  const Shape& shape = sig.inputs[0].shape;
  const int64_t tokens = shape[0] * shape[1], width = shape[2], E = a.experts, k = a.top_k;
  const auto *x = operands.in<float>(0), *weight = operands.in<float>(1), *scores = operands.in<float>(3),
             *dweights = operands.in<float>(4), *dscores = operands.in<float>(5);
  const auto* ids = operands.in<int32_t>(2);
  auto *dx = operands.out<float>(0), *dweight = operands.out<float>(1), *dstate = operands.out<float>(2);
  for (int64_t t = 0; t < tokens; ++t, x += width, dx += width, ids += k, scores += E) {
    Floats d(at(E));
    if (dscores != nullptr) std::copy(dscores + t * E, dscores + (t + 1) * E, d.begin());
    float sum = kLeastSum, mean = 0.0f;
    const auto g = [&](int64_t j) {
      return dweights == nullptr || ids[j] < 0 ? 0.0f : dweights[t * k + j] * static_cast<float>(a.scale);
    };
    for (int64_t j = 0; j < k; ++j) sum += scores[chosen_expert(ids[j])];
    for (int64_t j = 0; j < k; ++j) mean += g(j) * scores[chosen_expert(ids[j])] / sum;
    for (int64_t j = 0; j < k; ++j)
      d[at(chosen_expert(ids[j]))] += normalizes(a) ? (g(j) - mean) / sum : g(j);
    d = through_score(a, scores, d);
    if (a.z_loss != 0) {
      const Floats logits = logits_of(x, weight, E, width);
      const float lse = log_sum_exp(logits);
      for (int64_t e = 0; e < E; ++e)
        d[at(e)] += 2 * static_cast<float>(a.z_loss) * lse * std::exp(logits[at(e)] - lse);
    }
    for (int64_t c = 0; c < width; ++c) {
      float to_x = 0.0f;
      for (int64_t e = 0; e < E; ++e) to_x += d[at(e)] * weight[e * width + c];
      dx[c] = to_x;
      for (int64_t e = 0; e < E && dweight != nullptr; ++e) dweight[e * width + c] += d[at(e)] * x[c];
    }
    for (int64_t j = 0; j < k && dstate != nullptr; ++j) {
      dstate[chosen_expert(ids[j])] += 1;
      if (ids[j] < 0) dstate[E + chosen_expert(ids[j])] += 1;
    }
  }
}

}  // namespace trireme
