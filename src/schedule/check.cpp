// Placement, pairs, deadlock, and the order of sums.
#include "schedule/check.h"

#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "schedule/simulate.h"

namespace trireme {

namespace {

std::string at(size_t rank, size_t i, const ScheduleStep& step) {
  return fmt::format("rank {} step {} ({})", rank, i, to_text(step));
}

std::string find_stray(const Schedule& schedule) {
  if (schedule.table.size() != static_cast<size_t>(schedule.placement.ranks))
    return fmt::format("the table has {} ranks, the placement {}", schedule.table.size(),
                       schedule.placement.ranks);
  for (size_t rank = 0; rank < schedule.table.size(); ++rank)
    for (size_t i = 0; i < schedule.table[rank].size(); ++i) {
      const ScheduleStep& step = schedule.table[rank][i];
      if (step.stage < 0 || step.stage >= schedule.placement.stages() || step.micro_batch < 0 ||
          step.micro_batch >= schedule.micro_batches)
        return fmt::format("{}: there are {} stages and {} micro-batches", at(rank, i, step),
                           schedule.placement.stages(), schedule.micro_batches);
      const int32_t owner = rank_of(schedule, step.stage, step.micro_batch);
      if (static_cast<size_t>(owner) != rank)
        return fmt::format("{}: stage {} of that micro-batch is on rank {}", at(rank, i, step), step.stage,
                           owner);
    }
  return "";
}

std::string find_bad_pair(const ScheduleTable& table) {
  for (size_t rank = 0; rank < table.size(); ++rank)
    for (size_t i = 0; i < table[rank].size(); ++i) {
      const ScheduleStep& step = table[rank][i];
      if (!step.with_next) continue;
      if (i + 1 == table[rank].size())
        return fmt::format("{}: runs at once with a step that is not there", at(rank, i, step));
      const ScheduleStep& other = table[rank][i + 1];
      const bool back = other.kind == StepKind::backward || other.kind == StepKind::backward_input;
      if (step.kind != StepKind::forward || !back || other.with_next || other.micro_batch == step.micro_batch)
        return fmt::format(
            "{}: only a forward and a backward of another micro-batch run at once, not {} and {}",
            at(rank, i, step), to_text(step), to_text(other));
    }
  return "";
}

}  // namespace

std::string find_fault(const Schedule& schedule, ScheduleUse use) {
  if (std::string fault = find_stray(schedule); !fault.empty()) return fault;
  if (std::string fault = find_fault(schedule.table, schedule.placement.stages(), schedule.micro_batches,
                                     use == ScheduleUse::training);
      !fault.empty())
    return fault;
  if (std::string fault = find_bad_pair(schedule.table); !fault.empty()) return fault;
  const std::string ring = simulate(schedule, {}).deadlock;
  return ring.empty() ? "" : "deadlock: " + ring;
}

namespace {

// What is added to apart from each other: norm weights by the input part of a backward, matrices by the
// weight part, and the head's matrix by the forward of the last stage, which makes its gradient at once.
enum class GradientPart : uint8_t { head, input, weight };

std::vector<GradientPart> parts_of(const ScheduleStep& step, int32_t last_stage) {
  if (step.kind == StepKind::backward) return {GradientPart::input, GradientPart::weight};
  if (step.kind == StepKind::backward_input) return {GradientPart::input};
  if (step.kind == StepKind::backward_weight) return {GradientPart::weight};
  return step.stage == last_stage ? std::vector{GradientPart::head} : std::vector<GradientPart>{};
}

}  // namespace

std::string find_sum_fault(const Schedule& schedule, int32_t lanes) {
  CHECK(lanes >= 1 && schedule.micro_batches % lanes == 0, "{} micro-batches in {} lanes",
        schedule.micro_batches, lanes);
  const int32_t directions = schedule.placement.directions();
  if (lanes % directions != 0)
    return fmt::format(
        "a lane would be summed in {0} copies of a stage; batch.lanes must be a multiple of {0} x the "
        "data-parallel degree, not of {1} x",
        directions, lanes);
  const int32_t per_lane = schedule.micro_batches / lanes, last_stage = schedule.placement.stages() - 1;
  std::map<std::tuple<int32_t, int32_t, GradientPart>, int32_t> latest;  // by stage, lane and part
  for (size_t rank = 0; rank < schedule.table.size(); ++rank)
    for (size_t i = 0; i < schedule.table[rank].size(); ++i) {
      const ScheduleStep& step = schedule.table[rank][i];
      for (const GradientPart part : parts_of(step, last_stage)) {
        const auto [it, fresh] =
            latest.try_emplace({step.stage, step.micro_batch / per_lane, part}, step.micro_batch);
        if (step.micro_batch < it->second)
          return fmt::format("{}: adds to the gradient after micro-batch {}", at(rank, i, step), it->second);
        it->second = step.micro_batch;
      }
    }
  return "";
}

}  // namespace trireme
