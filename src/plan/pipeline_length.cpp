// The clock of schedule/simulate.h ticks in whole units: a thousandth of a forward.
#include "plan/pipeline_length.h"

#include <algorithm>
#include <cmath>

#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

constexpr double kUnitsPerForward = 1000;

PipelineLength timed(const ScheduleDef& def, const ScheduleInput& input, const StageTimes& times) {
  const double unit_s = std::max(times.forward_s, 1e-12) / kUnitsPerForward;
  const auto units = [&](double s) { return std::max<int64_t>(1, std::llround(s / unit_s)); };
  const Simulation simulation = simulate(
      def.make(input),
      {.forward = units(times.forward_s), .input = units(times.input_s), .weight = units(times.weight_s)});
  PipelineLength out{.length_s = static_cast<double>(simulation.length) * unit_s, .stored = {}};
  for (const RankTimes& rank : simulation.ranks) out.stored.push_back(rank.most_stored);
  return out;
}

// `a` at `at_a` micro-batches and `b` at `at_b` on a line.
double prolonged(double a, double b, double at_a, double at_b, double at) {
  return a + (b - a) * (at - at_a) / (at_b - at_a);
}

}  // namespace

std::optional<PipelineLength> pipeline_length(const PipelineShape& shape, const StageTimes& times) {
  const ScheduleDef* def = find_schedule(name_of_value(shape.schedule));
  ScheduleInput input{.ranks = static_cast<int32_t>(shape.ranks),
                      .stages_per_rank = static_cast<int32_t>(shape.stages_per_rank),
                      .micro_batches = static_cast<int32_t>(shape.micro_batches)};
  if (def == nullptr || refuse(*def, input)) return {};
  const int32_t all = input.micro_batches, round = 2 * input.ranks;
  if (all <= 3 * round) return timed(*def, input, times);
  // As many beyond the last whole round as the step has.
  const int32_t short_step = 2 * round + all % round;
  input.micro_batches = short_step;
  const PipelineLength a = timed(*def, input, times);
  input.micro_batches = short_step + round;
  PipelineLength b = timed(*def, input, times);
  b.length_s = prolonged(a.length_s, b.length_s, short_step, short_step + round, all);
  for (size_t r = 0; r < b.stored.size(); ++r)
    b.stored[r] = prolonged(a.stored[r], b.stored[r], short_step, short_step + round, all);
  return b;
}

}  // namespace trireme
