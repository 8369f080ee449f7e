// Interleaved zero bubble: the order of the interleaved schedule with the backward in two parts, as in ZB-H1.
// As the input part takes no longer than a forward, one forward ahead per rank below is enough.
//   rank 1 of 2, 2 stages each: 1F0 1F1 3F0 3I0 3F1 3I1 3W0 1F2 1I0 3W1 1F3 1I1 1W0 ...
#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"

namespace trireme {

Schedule interleaved_zb(const ScheduleInput& input) {
  Schedule schedule{{}, loop_placement(input.ranks, input.stages_per_rank), input.micro_batches, true};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    Alternation order;
    order.forwards = grouped_turns(input, rank, StageOrder::ascending);
    order.backwards = grouped_turns(input, rank, StageOrder::descending);
    order.warmup = (input.stages_per_rank - 1) * input.ranks + input.ranks - 1 - rank;
    order.weight_lag = rank;
    schedule.table.push_back(alternate(order));
    drop_padding(schedule.table.back(), input.micro_batches);
  }
  return schedule;
}

}  // namespace trireme
