// Scalars in the slots of ops/grad_norm/grad_norm.h.
#include "train/optimizer_step.h"

#include <algorithm>
#include <cmath>

#include "ops/grad_norm/grad_norm.h"

namespace trireme {

StepOutcome run_optimizer_step(Engine& engine, const OptimizerSpec& optimizer, const StepScalars& step,
                               std::span<const BatchArrays> batches) {
  const Program& program = engine.program();
  // A step without a single counted token has no gradient; its loss is 0.
  const auto tokens = static_cast<double>(std::max<int64_t>(step.counted_tokens, 1));
  double scalars[kStepScalars] = {};
  scalar(scalars, StepScalar::lr) = step.lr;
  scalar(scalars, StepScalar::bias1) = 1 - std::pow(optimizer.beta1, static_cast<double>(step.update));
  scalar(scalars, StepScalar::bias2) = 1 - std::pow(optimizer.beta2, static_cast<double>(step.update));
  scalar(scalars, StepScalar::inverse_tokens) = 1 / tokens;
  engine.write_buffer(program.scalars, scalars, sizeof scalars);
  engine.run(*find_timeline(program, "train"), batches);
  double sums[2] = {};
  engine.read_buffer(program.scalars, scalars, sizeof scalars);
  engine.read_buffer(program.result, sums, sizeof sums);
  return {sums[0] / tokens, scalar(scalars, StepScalar::norm), scalar(scalars, StepScalar::finite) == 0};
}

}  // namespace trireme
