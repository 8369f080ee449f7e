// [lr]: how the learning rate varies over the steps. Evaluated by src/train/.
#pragma once
#include "config/field.h"

namespace trireme {

// After warmup_steps: constant stays at the peak; linear and cosine fall to min_ratio x the peak at
// decay_steps; wsd (warmup, stable, decay) stays, then falls linearly over the last cooldown_steps before
// decay_steps.
enum class LrKind : uint8_t { constant, linear, cosine, wsd };
std::span<const std::string_view> names_of_values(LrKind);

// Resolved: 0 <= warmup_steps <= decay_steps, decay_steps >= 1, cooldown_steps <= decay_steps - warmup_steps.
template <template <class> class As>
struct LrKeys {
  As<LrKind> kind{};
  As<int64_t> warmup_steps{};    // linear rise to the peak; 0: the first step has the peak
  As<int64_t> decay_steps{};     // step, counted from the run's start, at which the decay has ended
  As<int64_t> cooldown_steps{};  // wsd: length of the fall; 0 for the other kinds
  As<double> min_ratio{};        // last learning rate over the peak; 1 when resolved for constant
};

using LrSpec = LrKeys<Plain>;
using RawLr = LrKeys<Maybe>;

}  // namespace trireme
