// Warmup, then the chosen curve between the peak and the floor.
#include "train/lr.h"

#include <cmath>
#include <numbers>

namespace trireme {

double learning_rate(const LrSpec& spec, double peak, int64_t step) {
  if (step < spec.warmup_steps)
    return peak * static_cast<double>(step + 1) / static_cast<double>(spec.warmup_steps + 1);
  if (spec.kind == LrKind::constant) return peak;
  const double floor = spec.min_ratio * peak;
  const int64_t begin = spec.kind == LrKind::wsd ? spec.decay_steps - spec.cooldown_steps : spec.warmup_steps;
  if (step >= spec.decay_steps) return floor;
  if (step <= begin) return peak;
  // begin < step < decay_steps, so the denominator is positive.
  const double done = static_cast<double>(step - begin) / static_cast<double>(spec.decay_steps - begin);
  if (spec.kind == LrKind::cosine)
    return floor + 0.5 * (1 + std::cos(std::numbers::pi * done)) * (peak - floor);
  return peak + done * (floor - peak);
}

}  // namespace trireme
