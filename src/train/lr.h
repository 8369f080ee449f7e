// The learning rate as a pure function of the step, so that it resumes by itself and knows no ranks.
#pragma once
#include <cstdint>

#include "config/lr.h"

namespace trireme {

// For the optimizer step with index `step` (0 is the first). The peak is reached at step warmup_steps; the
// floor, min_ratio * peak, from step decay_steps on. Warmup step s has peak * (s + 1) / (warmup_steps + 1).
double learning_rate(const LrSpec& spec, double peak, int64_t step);

}  // namespace trireme
