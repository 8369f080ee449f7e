// The clock of schedule/simulate.h ticks in whole units: a thousandth of a forward.
#include "plan/pipeline_length.h"

#include <algorithm>
#include <cmath>

#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

constexpr double kUnitsPerForward = 1000;

// The most that the steps of a rank leave behind, in their order.
double most_stored(const std::vector<ScheduleStep>& steps, double held) {
  double now = 0, most = 0;
  for (const ScheduleStep& step : steps) {
    if (step.kind == StepKind::forward) now += 1;
    if (step.kind == StepKind::backward_input) now += held;
    most = std::max(most, now);
    if (step.kind == StepKind::backward) now -= 1;
    if (step.kind == StepKind::backward_weight) now -= 1 + held;
  }
  return most;
}

PipelineLength timed(const ScheduleDef& def, const ScheduleInput& input, const StageCosts& costs) {
  const double unit_s = std::max(costs.forward_s, 1e-12) / kUnitsPerForward;
  const auto units = [&](double s) { return std::max<int64_t>(1, std::llround(s / unit_s)); };
  const Schedule schedule = def.make(input);
  const Simulation simulation = simulate(
      schedule,
      {.forward = units(costs.forward_s), .input = units(costs.input_s), .weight = units(costs.weight_s)});
  PipelineLength out{.length_s = static_cast<double>(simulation.length) * unit_s,
                     .stored = {},
                     .split = schedule.split_backward};
  for (const std::vector<ScheduleStep>& steps : schedule.table)
    out.stored.push_back(most_stored(steps, costs.held));
  return out;
}

// `a` at `at_a` micro-batches and `b` at `at_b` on a line.
double prolonged(double a, double b, double at_a, double at_b, double at) {
  return a + (b - a) * (at - at_a) / (at_b - at_a);
}

}  // namespace

std::optional<PipelineLength> pipeline_length(const PipelineShape& shape, const StageCosts& costs) {
  const ScheduleDef* def = find_schedule(name_of_value(shape.schedule));
  ScheduleInput input{.ranks = static_cast<int32_t>(shape.ranks),
                      .stages_per_rank = static_cast<int32_t>(shape.stages_per_rank),
                      .micro_batches = static_cast<int32_t>(shape.micro_batches)};
  if (def == nullptr || refuse(*def, input)) return {};
  const int32_t all = input.micro_batches, round = input.ranks;
  if (all <= 3 * round) return timed(*def, input, costs);
  // As many beyond the last whole round as the step has.
  const int32_t short_step = 2 * round + all % round;
  input.micro_batches = short_step;
  const PipelineLength a = timed(*def, input, costs);
  input.micro_batches = short_step + round;
  PipelineLength b = timed(*def, input, costs);
  b.length_s = prolonged(a.length_s, b.length_s, short_step, short_step + round, all);
  for (size_t r = 0; r < b.stored.size(); ++r)
    b.stored[r] = prolonged(a.stored[r], b.stored[r], short_step, short_step + round, all);
  return b;
}

}  // namespace trireme
