// Runs ranks as far as they get; a rank that waits is taken up again when the step it waits for is done.
#include "schedule/simulate.h"

#include <fmt/format.h>

#include <algorithm>

namespace trireme {

namespace {

enum class Pass : uint8_t { forward, back };

class Clockwork {
 public:
  Clockwork(const Schedule& schedule, const StepCosts& costs)
      : schedule_(schedule),
        costs_(costs),
        next_(schedule.table.size()),
        free_at_(schedule.table.size()),
        stored_(schedule.table.size()) {
    const size_t cells =
        static_cast<size_t>(schedule.placement.stages()) * static_cast<size_t>(schedule.micro_batches);
    done_[0].assign(cells, -1);
    done_[1].assign(cells, -1);
    result_.ranks.resize(schedule.table.size());
    for (const auto& row : schedule.table) result_.starts.emplace_back(row.size(), -1);
  }

  Simulation run() {
    for (size_t rank = 0; rank < schedule_.table.size(); ++rank) awake_.push_back(rank);
    while (!awake_.empty()) {
      const size_t rank = awake_.back();
      awake_.pop_back();
      while (run_next(rank)) {
      }
    }
    result_.deadlock = find_ring();
    return std::move(result_);
  }

 private:
  struct Need {
    Pass pass = Pass::forward;
    int32_t stage = 0, micro_batch = 0;
  };

  int64_t& done(Pass pass, int32_t stage, int32_t micro_batch) {
    return done_[static_cast<size_t>(pass)]
                [static_cast<size_t>(stage) * static_cast<size_t>(schedule_.micro_batches) +
                 static_cast<size_t>(micro_batch)];
  }

  // The steps that start together: one, or a pair.
  size_t group_size(size_t rank) const {
    const auto& row = schedule_.table[rank];
    return row[next_[rank]].with_next && next_[rank] + 1 < row.size() ? 2 : 1;
  }

  std::optional<Need> need_of(const ScheduleStep& step) const {
    const int32_t last = schedule_.placement.stages() - 1;
    switch (step.kind) {
      case StepKind::forward:
        if (step.stage == 0) return {};
        return Need{Pass::forward, step.stage - 1, step.micro_batch};
      case StepKind::backward:
      case StepKind::backward_input:
        if (step.stage == last) return Need{Pass::forward, last, step.micro_batch};
        return Need{Pass::back, step.stage + 1, step.micro_batch};
      case StepKind::backward_weight:
        return Need{Pass::back, step.stage, step.micro_batch};
    }
    return {};
  }

  // What the rank's next steps still wait for.
  std::optional<Need> missing(size_t rank) {
    for (size_t i = 0; i < group_size(rank); ++i)
      if (const auto need = need_of(schedule_.table[rank][next_[rank] + i]);
          need && done(need->pass, need->stage, need->micro_batch) < 0)
        return need;
    return {};
  }

  int64_t cost_of(const ScheduleStep& step) const {
    switch (step.kind) {
      case StepKind::forward:
        return costs_.forward;
      case StepKind::backward:
        return costs_.input + costs_.weight;
      case StepKind::backward_input:
        return costs_.input;
      case StepKind::backward_weight:
        return costs_.weight;
    }
    return 0;
  }

  int64_t cost_of_group(size_t rank) const {
    const ScheduleStep* steps = &schedule_.table[rank][next_[rank]];
    if (group_size(rank) == 1) return cost_of(steps[0]);
    const int64_t apart = costs_.forward + costs_.input + costs_.weight;
    return costs_.pair.value_or(apart) - (steps[1].kind == StepKind::backward_input ? costs_.weight : 0);
  }

  // False when the rank is at its end or has to wait.
  bool run_next(size_t rank) {
    if (next_[rank] == schedule_.table[rank].size() || missing(rank)) return false;
    const size_t count = group_size(rank);
    int64_t start = free_at_[rank];
    for (size_t i = 0; i < count; ++i)
      if (const auto need = need_of(schedule_.table[rank][next_[rank] + i]))
        start = std::max(start, done(need->pass, need->stage, need->micro_batch));
    const int64_t cost = cost_of_group(rank);
    RankTimes& times = result_.ranks[rank];
    if (next_[rank] == 0) times.first = start;
    times.last = free_at_[rank] = start + cost;
    times.busy += cost;
    result_.length = std::max(result_.length, times.last);
    for (size_t i = 0; i < count; ++i) finish(rank, start);
    return true;
  }

  void finish(size_t rank, int64_t start) {
    const ScheduleStep& step = schedule_.table[rank][next_[rank]];
    result_.starts[rank][next_[rank]++] = start;
    if (step.kind == StepKind::forward)
      result_.ranks[rank].most_stored = std::max(result_.ranks[rank].most_stored, ++stored_[rank]);
    if (step.kind == StepKind::backward || step.kind == StepKind::backward_weight) --stored_[rank];
    if (step.kind == StepKind::backward_weight) return;
    const Pass pass = step.kind == StepKind::forward ? Pass::forward : Pass::back;
    done(pass, step.stage, step.micro_batch) = free_at_[rank];
    const int32_t neighbour = pass == Pass::forward ? step.stage + 1 : step.stage - 1;
    if (neighbour >= 0 && neighbour < schedule_.placement.stages())
      awake_.push_back(static_cast<size_t>(rank_of(schedule_, neighbour, step.micro_batch)));
  }

  // From a rank that has stopped, each waits for the rank that would do what it needs; in the end one comes
  // again.
  std::string find_ring() {
    size_t rank = 0;
    while (rank < next_.size() && next_[rank] == schedule_.table[rank].size()) ++rank;
    if (rank == next_.size()) return "";
    std::vector<size_t> path;
    std::vector<std::string> waits;
    while (std::ranges::find(path, rank) == path.end()) {
      const Need need = *missing(rank);
      path.push_back(rank);
      const auto owner = static_cast<size_t>(rank_of(schedule_, need.stage, need.micro_batch));
      waits.push_back(fmt::format("rank {} at step {} ({}) waits for {}{}{} on rank {}", rank, next_[rank],
                                  to_text(schedule_.table[rank][next_[rank]]), need.stage,
                                  need.pass == Pass::forward ? "F" : "B", need.micro_batch, owner));
      rank = owner;
    }
    waits.erase(waits.begin(), waits.begin() + (std::ranges::find(path, rank) - path.begin()));
    return fmt::format("{}", fmt::join(waits, "; "));
  }

  const Schedule& schedule_;
  const StepCosts& costs_;
  std::vector<size_t> next_;
  std::vector<int64_t> free_at_;
  std::vector<int32_t> stored_;
  std::vector<int64_t> done_[2];  // by Pass; -1: not yet
  std::vector<size_t> awake_;
  Simulation result_;
};

}  // namespace

Simulation simulate(const Schedule& schedule, const StepCosts& costs) {
  return Clockwork(schedule, costs).run();
}

}  // namespace trireme
