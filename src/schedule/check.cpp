// Placement, pairs, deadlock, and the order of sums.
#include "schedule/check.h"

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

std::string find_sum_fault(const Schedule& schedule, int32_t lanes) {
  CHECK(lanes >= 1 && schedule.micro_batches % lanes == 0, "{} micro-batches in {} lanes",
        schedule.micro_batches, lanes);
  const int32_t directions = schedule.placement.directions();
  if (lanes % directions != 0)
    return fmt::format(
        "a lane would be summed in {0} copies of a stage; batch.lanes must be a multiple of {0} x the "
        "data-parallel degree, not of {1} x",
        directions, lanes);
  const int32_t per_lane = schedule.micro_batches / lanes;
  std::vector<int32_t> latest(static_cast<size_t>(schedule.placement.stages()) * static_cast<size_t>(lanes),
                              -1);
  for (size_t rank = 0; rank < schedule.table.size(); ++rank)
    for (size_t i = 0; i < schedule.table[rank].size(); ++i) {
      const ScheduleStep& step = schedule.table[rank][i];
      if (step.kind != StepKind::backward && step.kind != StepKind::backward_weight) continue;
      int32_t& last = latest[static_cast<size_t>(step.stage) * static_cast<size_t>(lanes) +
                             static_cast<size_t>(step.micro_batch / per_lane)];
      if (step.micro_batch < last)
        return fmt::format("{}: adds to the gradient after micro-batch {}", at(rank, i, step), last);
      last = step.micro_batch;
    }
  return "";
}

}  // namespace trireme
