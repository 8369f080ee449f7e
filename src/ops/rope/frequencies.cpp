// The frequencies of rotary positions under each scaling.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/rope/rope.h"

namespace trireme {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;  // radians

std::vector<double> plain(double theta, int64_t head_dim) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < head_dim / 2; ++i)
    frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim)));
  return frequencies;
}

// The (real) index of the pair that makes `turns` turns over the original context.
double pair_with_turns(const RopeAttrs& attrs, double turns) {
  return static_cast<double>(attrs.head_dim) *
         std::log(static_cast<double>(attrs.original_context) / (turns * kTurn)) /
         (2 * std::log(attrs.theta));
}

void scale_yarn(const RopeAttrs& attrs, std::vector<double>& frequencies) {
  const double first = std::max(std::floor(pair_with_turns(attrs, attrs.beta_fast)), 0.0);
  double last =
      std::min(std::ceil(pair_with_turns(attrs, attrs.beta_slow)), static_cast<double>(attrs.head_dim - 1));
  if (last == first) last += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    frequencies[i] *= stretched / attrs.factor + (1 - stretched);
  }
}

void scale_llama3(const RopeAttrs& attrs, std::vector<double>& frequencies) {
  const double low = attrs.low_freq_factor, high = attrs.high_freq_factor;
  for (double& frequency : frequencies) {
    const double turns = static_cast<double>(attrs.original_context) * frequency / kTurn;
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency *= (1 - kept) / attrs.factor + kept;
  }
}

}  // namespace

std::vector<double> rope_frequencies(const RopeAttrs& attrs) {
  const auto dim = static_cast<double>(attrs.head_dim);
  if (attrs.scaling == "ntk")
    return plain(attrs.theta * std::pow(attrs.factor, dim / (dim - 2)), attrs.head_dim);
  std::vector<double> frequencies = plain(attrs.theta, attrs.head_dim);
  if (attrs.scaling == "linear")
    for (double& frequency : frequencies) frequency /= attrs.factor;
  else if (attrs.scaling == "yarn")
    scale_yarn(attrs, frequencies);
  else if (attrs.scaling == "llama3")
    scale_llama3(attrs, frequencies);
  else
    CHECK(attrs.scaling == "none", "rope scaling {}", attrs.scaling);
  return frequencies;
}

double rope_amplitude(const RopeAttrs& attrs) {
  if (attrs.scaling != "yarn") return 1;
  return attrs.attention_factor != 0 ? attrs.attention_factor : 0.1 * std::log(attrs.factor) + 1;
}

}  // namespace trireme
