// Interleaved 1F1B: several stages per rank, micro-batches in groups of as many as there are ranks.
//   rank 0 of 2, 2 stages each: 0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3
#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"

namespace trireme {

Schedule interleaved(const ScheduleInput& input) {
  Schedule schedule{{}, loop_placement(input.ranks, input.stages_per_rank), input.micro_batches, false};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    Alternation order;
    order.forwards = grouped_turns(input, rank, StageOrder::ascending);
    order.backwards = grouped_turns(input, rank, StageOrder::descending);
    // A forward is due until the first group is through all but the last stage, and then two for every rank
    // below: one on the way down, one on the way back.
    order.warmup = (input.stages_per_rank - 1) * input.ranks + 2 * (input.ranks - 1 - rank);
    schedule.table.push_back(alternate(order));
    drop_padding(schedule.table.back(), input.micro_batches);
  }
  return schedule;
}

}  // namespace trireme
