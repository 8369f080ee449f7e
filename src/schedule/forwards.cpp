// Evaluation: forwards only.
#include "schedule/schedule.h"

namespace trireme {

// Unit by unit: what one unit has made may be used in the next. A stage takes micro-batches in order within a
// direction, so what has gone through it is a count.
Schedule forwards(const StagePlacement& placement, int32_t micro_batches) {
  Schedule schedule{ScheduleTable(static_cast<size_t>(placement.ranks)), placement, micro_batches, false};
  struct Stage {
    int32_t direction, stage, made, end;  // made: the next micro-batch
  };
  std::vector<Stage> chain;  // direction by direction, so that the feeder of a stage lies before it
  const int32_t ways = placement.directions();
  for (int32_t d = 0; d < ways; ++d) {
    const int32_t first = (d * micro_batches + ways - 1) / ways,
                  end = ((d + 1) * micro_batches + ways - 1) / ways;
    for (int32_t s = 0; s < placement.stages(); ++s) chain.push_back({d, s, first, end});
  }
  for (bool more = micro_batches > 0; more;) {
    more = false;
    std::vector<int32_t> chosen(schedule.table.size(),
                                -1);  // by rank: the index of the deepest stage that is ready
    for (size_t i = 0; i < chain.size(); ++i) {
      const Stage& at = chain[i];
      const int32_t fed = at.stage == 0 ? at.end : chain[i - 1].made;
      if (at.made == fed) continue;
      int32_t& choice = chosen[static_cast<size_t>(
          placement.rank_of_stage[static_cast<size_t>(at.direction)][static_cast<size_t>(at.stage)])];
      if (choice < 0 || at.stage > chain[static_cast<size_t>(choice)].stage) choice = static_cast<int32_t>(i);
    }
    for (size_t rank = 0; rank < chosen.size(); ++rank) {
      if (chosen[rank] < 0) continue;
      Stage& at = chain[static_cast<size_t>(chosen[rank])];
      schedule.table[rank].push_back({at.stage, StepKind::forward, at.made++});
      more = true;
    }
  }
  return schedule;
}

}  // namespace trireme
