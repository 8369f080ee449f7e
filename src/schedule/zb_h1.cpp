// ZB-H1 (also ZB1P): 1F1B with the backward in two parts. The weight part waits while a rank is behind, the
// more the further down it is, so that the input part goes up at once and every rank stores as much as rank
// 0.
//   rank 1 of 2: 1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2
#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"

namespace trireme {

Schedule zb_h1(const ScheduleInput& input) {
  Schedule schedule{{}, loop_placement(input.ranks, 1), input.micro_batches, true};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    Alternation order;
    for (int32_t m = 0; m < input.micro_batches; ++m) order.forwards.push_back({rank, m});
    order.backwards = order.forwards;
    order.warmup = input.ranks - 1 - rank;
    order.weight_lag = rank;
    schedule.table.push_back(alternate(order));
  }
  return schedule;
}

}  // namespace trireme
