// Sort, cut, draw by inversion.
#include "train/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trireme {

uint32_t Sampler::sample(std::span<const float> logits, int64_t index) {
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0u);
  // NaN is the least likely, so that the order stays one.
  const auto value = [&](uint32_t id) {
    return std::isnan(logits[id]) ? -std::numeric_limits<float>::infinity() : logits[id];
  };
  const auto likelier = [&](uint32_t a, uint32_t b) {
    return value(a) != value(b) ? value(a) > value(b) : a < b;
  };
  const bool greedy = options_.temperature == 0;
  size_t kept =
      options_.top_k > 0 ? std::min(logits.size(), static_cast<size_t>(options_.top_k)) : logits.size();
  if (greedy) kept = 1;
  std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept), order_.end(),
                    likelier);
  if (greedy || !std::isfinite(value(order_[0]))) return order_[0];
  weights_.resize(kept);
  for (size_t i = 0; i < kept; ++i)
    weights_[i] = std::exp((static_cast<double>(value(order_[i])) - value(order_[0])) / options_.temperature);
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  double nucleus = 0;
  for (size_t i = 0; i < kept; ++i) {
    nucleus += weights_[i];
    if (nucleus < options_.top_p * total) continue;
    kept = i + 1;
    break;
  }
  double left = random_.uniform(static_cast<uint64_t>(index)) * nucleus;
  for (size_t i = 0; i < kept; ++i) {
    left -= weights_[i];
    if (left < 0) return order_[i];
  }
  return order_[kept - 1];  // rounding used up the last of it
}

}  // namespace trireme
