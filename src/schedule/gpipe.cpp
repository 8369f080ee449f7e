// GPipe: all forwards, then all backwards.
//   rank 0 of 2: 0F0 0F1 0F2 0B0 0B1 0B2
#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"

namespace trireme {

Schedule gpipe(const ScheduleInput& input) {
  Schedule schedule{{}, loop_placement(input.ranks, 1), input.micro_batches, false};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    Alternation order;
    for (int32_t m = 0; m < input.micro_batches; ++m) order.forwards.push_back({rank, m});
    order.backwards = order.forwards;
    order.warmup = input.micro_batches;
    schedule.table.push_back(alternate(order));
  }
  return schedule;
}

}  // namespace trireme
