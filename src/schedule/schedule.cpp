// The text of a schedule and the rules that every schedule keeps.
#include "schedule/schedule.h"

#include <fmt/format.h>

#include <array>

namespace trireme {

int32_t direction_of(const Schedule& schedule, int32_t micro_batch) {
  return static_cast<int32_t>(int64_t{micro_batch} * schedule.placement.directions() /
                              schedule.micro_batches);
}

int32_t rank_of(const Schedule& schedule, int32_t stage, int32_t micro_batch) {
  const auto direction = static_cast<size_t>(direction_of(schedule, micro_batch));
  return schedule.placement.rank_of_stage[direction][static_cast<size_t>(stage)];
}

std::string to_text(const ScheduleStep& step) {
  constexpr std::array kLetters = {'F', 'B', 'I', 'W'};
  return fmt::format("{}{}{}", step.stage, kLetters[static_cast<size_t>(step.kind)], step.micro_batch);
}

std::string to_text(const ScheduleTable& table) {
  std::string text;
  for (const auto& rank : table) {
    for (size_t i = 0; i < rank.size(); ++i) {
      if (i > 0) text += rank[i - 1].with_next ? '+' : ' ';
      text += to_text(rank[i]);
    }
    text += '\n';
  }
  return text;
}

namespace {

// What has been done with one micro-batch on one stage.
struct Progress {
  bool forward = false, input = false, weight = false;
};

// "" or why `step` may not come now.
std::string advance(Progress& progress, const ScheduleStep& step) {
  const auto refuse = [&](std::string_view why) {
    return fmt::format("stage {} micro-batch {} {}", step.stage, step.micro_batch, why);
  };
  if (step.kind == StepKind::forward) {
    if (progress.forward) return refuse("goes forward twice");
    progress.forward = true;
    return "";
  }
  if (!progress.forward) return refuse("goes back before it went forward");
  const bool input = step.kind != StepKind::backward_weight, weight = step.kind != StepKind::backward_input;
  if ((input && progress.input) || (weight && progress.weight)) return refuse("goes back twice");
  if (!input && !progress.input) return refuse("has its weight part before its input part");
  progress.input |= input;
  progress.weight |= weight;
  return "";
}

}  // namespace

std::string find_fault(const ScheduleTable& table, int32_t stages, int32_t micro_batches, bool training) {
  std::vector<Progress> all(static_cast<size_t>(stages) * static_cast<size_t>(micro_batches));
  for (const auto& rank : table)
    for (const ScheduleStep& step : rank) {
      if (step.stage < 0 || step.stage >= stages || step.micro_batch < 0 || step.micro_batch >= micro_batches)
        return fmt::format("stage {} micro-batch {} does not exist", step.stage, step.micro_batch);
      const size_t cell = static_cast<size_t>(step.stage) * static_cast<size_t>(micro_batches) +
                          static_cast<size_t>(step.micro_batch);
      if (const std::string fault = advance(all[cell], step); !fault.empty()) return fault;
    }
  for (size_t i = 0; i < all.size(); ++i) {
    const bool done = all[i].forward && (!training || (all[i].input && all[i].weight));
    if (!done)
      return fmt::format("stage {} micro-batch {} is not finished", i / static_cast<size_t>(micro_batches),
                         i % static_cast<size_t>(micro_batches));
  }
  return "";
}

}  // namespace trireme
