// One run of a program's "train" timeline: the step's scalars in, its loss and grad norm out.
#pragma once
#include <span>

#include "config/run_spec.h"
#include "engine/engine.h"

namespace trireme {

struct StepScalars {
  double lr = 0;
  int64_t update = 1;  // which update this would be, from 1: steps so far that were not skipped, and this one
  int64_t counted_tokens = 0;  // of the whole step
};

struct StepOutcome {
  double loss = 0;       // nats per counted token
  double grad_norm = 0;  // of the whole model, before clipping
  bool skipped = false;  // the norm was NaN or Inf: nothing has changed
};

StepOutcome run_optimizer_step(Engine& engine, const OptimizerSpec& optimizer, const StepScalars& scalars,
                               std::span<const BatchArrays> batches);

}  // namespace trireme
