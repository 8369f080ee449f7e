// The period of a mixture: earliest deadline first over the slots that each source is due (Baruah et al.
// 1996, "Proportionate progress": with unit jobs on one processor every deadline is met, so that each
// source's count stays within 1 of its share at every slot).
#include "io/data/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trireme {
namespace {

constexpr int64_t kLargestPeriod = 1 << 20;

// Slots of each source in a period of `period`, or empty when the shares are no multiples of 1/period.
std::vector<int32_t> exact_slots(const std::vector<double>& shares, int64_t period) {
  std::vector<int32_t> slots;
  for (const double share : shares) {
    const double wanted = share * static_cast<double>(period);
    const double rounded = std::round(wanted);
    if (std::abs(wanted - rounded) > 1e-9 || (share > 0 && rounded < 1)) return {};
    slots.push_back(static_cast<int32_t>(rounded));
  }
  if (std::accumulate(slots.begin(), slots.end(), int64_t{0}) != period) return {};
  return slots;
}

// Shares that need a longer period: every source that is read at all gets a slot, the largest takes up the
// rest.
std::vector<int32_t> rounded_slots(const std::vector<double>& shares) {
  std::vector<int32_t> slots;
  int64_t left = kLargestPeriod;
  for (const double share : shares) {
    const double wanted = std::round(share * static_cast<double>(kLargestPeriod));
    slots.push_back(share > 0 ? std::max(1, static_cast<int32_t>(wanted)) : 0);
    left -= slots.back();
  }
  *std::max_element(slots.begin(), slots.end()) += static_cast<int32_t>(left);
  return slots;
}

std::vector<int32_t> slots_of(const std::vector<double>& shares) {
  for (int64_t period = 1; period <= kLargestPeriod; ++period) {
    std::vector<int32_t> slots = exact_slots(shares, period);
    if (!slots.empty()) return slots;
  }
  return rounded_slots(shares);
}

}  // namespace

Mixture::Mixture(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  CHECK(sum > 0 && std::isfinite(sum), "weights sum to {}", sum);
  std::vector<double> shares;
  for (const double weight : weights) shares.push_back(weight / sum);
  per_period_ = slots_of(shares);
  const auto period = std::accumulate(per_period_.begin(), per_period_.end(), int64_t{0});

  struct Due {
    int64_t done = 0, release = 0, deadline = 0;  // of the source's next slot
  };
  std::vector<Due> due(weights.size());
  auto schedule_next = [&](size_t s) {
    const int64_t n = per_period_[s];
    if (n == 0 || due[s].done == n) {
      due[s].release = period;
    } else {
      due[s].release = due[s].done * period / n;
      due[s].deadline = ((due[s].done + 1) * period + n - 1) / n;
    }
  };
  for (size_t s = 0; s < due.size(); ++s) schedule_next(s);
  slots_.reserve(static_cast<size_t>(period));
  for (int64_t t = 0; t < period; ++t) {
    size_t best = due.size();
    for (size_t s = 0; s < due.size(); ++s) {
      if (due[s].release <= t && (best == due.size() || due[s].deadline < due[best].deadline)) best = s;
    }
    CHECK(best < due.size() && due[best].deadline > t, "slot {} of {}", t, period);
    slots_.push_back({static_cast<int32_t>(best), static_cast<int32_t>(due[best].done++)});
    schedule_next(best);
  }
}

Mixture::Place Mixture::at(int64_t position) const {
  const auto period = static_cast<int64_t>(slots_.size());
  const Slot slot = slots_[static_cast<size_t>(position % period)];
  return {slot.source, position / period * per_period_[static_cast<size_t>(slot.source)] + slot.rank};
}

int64_t Mixture::drawn(int32_t source, int64_t samples) const {
  const auto period = static_cast<int64_t>(slots_.size());
  const auto rest = slots_.begin() + samples % period;
  return samples / period * per_period_[static_cast<size_t>(source)] +
         std::count_if(slots_.begin(), rest, [&](const Slot& slot) { return slot.source == source; });
}

double Mixture::share(int32_t source) const {
  return static_cast<double>(per_period_[static_cast<size_t>(source)]) / static_cast<double>(slots_.size());
}

}  // namespace trireme
