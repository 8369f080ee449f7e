// Scores, top-k and weights of a token, and their gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/router/cpu_choice.h"

namespace trireme {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

float largest_of(const float* values, int64_t n) {
  float most = values[0];
  for (int64_t i = 1; i < n; ++i) most = std::max(most, values[i]);
  return most;
}

// The first of the largest; 0 when all are NaN or never to be taken.
int64_t best_of(const float* values, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (values[i] > values[best] || std::isnan(values[best])) best = i;
  return best;
}

float best_two(const float* values, int64_t n) {
  float first = kNever, second = kNever;
  for (int64_t i = 0; i < n; ++i) {
    second = std::max(second, std::min(first, values[i]));
    first = std::max(first, values[i]);
  }
  return n > 1 ? first + second : first;
}

// The experts of the groups that lose are never to be taken.
void keep_best_groups(const RouterAttrs& a, float* biased, float* worth) {
  const int64_t size = a.experts / a.groups;
  for (int64_t g = 0; g < a.groups; ++g) worth[g] = best_two(biased + g * size, size);
  for (int64_t i = 0; i < a.top_groups; ++i) worth[best_of(worth, a.groups)] = kNever;
  for (int64_t g = 0; g < a.groups; ++g)
    if (worth[g] != kNever) std::fill(biased + g * size, biased + (g + 1) * size, kNever);
}

// Logits to scores. Returns the sum that a softmax divides by, for logits less their maximum.
void score(const RouterAttrs& a, float* row) {
  if (a.score == "sigmoid") {
    for (int64_t e = 0; e < a.experts; ++e) row[e] = 1.0f / (1.0f + std::exp(-row[e]));
    return;
  }
  const float most = largest_of(row, a.experts);
  float sum = 0.0f;
  for (int64_t e = 0; e < a.experts; ++e) sum += row[e] = std::exp(row[e] - most);
  for (int64_t e = 0; e < a.experts; ++e) row[e] /= sum;
}

}  // namespace

void choose(const RouterAttrs& a, float* row, const float* bias, const ChoiceScratch& scratch, int32_t* ids,
            float* weights) {
  score(a, row);
  for (int64_t e = 0; e < a.experts; ++e) scratch.biased[e] = row[e] + (bias != nullptr ? bias[e] : 0.0f);
  if (a.top_groups < a.groups) keep_best_groups(a, scratch.biased, scratch.worth);
  float sum = kLeastSum;
  for (int64_t j = 0; j < a.top_k; ++j) {
    const int64_t e = best_of(scratch.biased, a.experts);
    scratch.biased[e] = kNever;
    ids[j] = static_cast<int32_t>(e);
    weights[j] = row[e];
    sum += row[e];
  }
  const float by = static_cast<float>(a.scale) / (normalizes(a) ? sum : 1.0f);
  for (int64_t j = 0; j < a.top_k; ++j) weights[j] *= by;
}

void logits_gradient(const RouterAttrs& a, const TokenGradient& t, float* row) {
  const int64_t E = a.experts, k = a.top_k;
  float by_lse = 0.0f;  // the z-loss's gradient is the softmax times this
  if (a.z_loss != 0) {
    const float most = largest_of(row, E);
    float sum = 0.0f;
    for (int64_t e = 0; e < E; ++e) sum += row[e] = std::exp(row[e] - most);
    by_lse = 2 * static_cast<float>(a.z_loss) * (most + std::log(sum)) / sum;
  }
  // What arrives at the weight of choice j, and with normalised weights, their mean and sum.
  const auto arrived = [&](int64_t j) {
    return t.dweights == nullptr || t.ids[j] < 0 ? 0.0f : t.dweights[j] * static_cast<float>(a.scale);
  };
  float sum = 1.0f, mean = 0.0f;
  if (normalizes(a)) {
    sum = kLeastSum;
    for (int64_t j = 0; j < k; ++j) sum += t.scores[chosen_expert(t.ids[j])];
    for (int64_t j = 0; j < k; ++j) mean += arrived(j) * t.scores[chosen_expert(t.ids[j])];
    mean /= sum;
  }
  // From scores to logits: softmax takes off the mean of the scores' gradient.
  const bool softmax = a.score == "softmax";
  float of_scores = 0.0f;
  if (softmax) {
    for (int64_t e = 0; e < E && t.dscores != nullptr; ++e) of_scores += t.dscores[e] * t.scores[e];
    for (int64_t j = 0; j < k; ++j)
      of_scores += (arrived(j) - mean) / sum * t.scores[chosen_expert(t.ids[j])];
  }
  const auto slope = [&](int64_t e) { return softmax ? t.scores[e] : t.scores[e] * (1.0f - t.scores[e]); };
  for (int64_t e = 0; e < E; ++e) {
    const float dscore = t.dscores != nullptr ? t.dscores[e] : 0.0f;
    row[e] = (by_lse != 0 ? by_lse * row[e] : 0.0f) + slope(e) * (dscore - of_scores);
  }
  for (int64_t j = 0; j < k; ++j) {
    const int64_t e = chosen_expert(t.ids[j]);
    row[e] += slope(e) * (arrived(j) - mean) / sum;
  }
}

}  // namespace trireme
