// Looped breadth-first: every micro-batch through a rank's first stage, then through its second, and back
// likewise.
//   rank 0 of 2, 2 stages each: 0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1
#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"

namespace trireme {

Schedule looped_bfs(const ScheduleInput& input) {
  Schedule schedule{{}, loop_placement(input.ranks, input.stages_per_rank), input.micro_batches, false};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    Alternation order;
    for (int32_t i = 0; i < input.stages_per_rank; ++i)
      for (int32_t m = 0; m < input.micro_batches; ++m) {
        order.forwards.push_back({i * input.ranks + rank, m});
        order.backwards.push_back({(input.stages_per_rank - 1 - i) * input.ranks + rank, m});
      }
    order.warmup = static_cast<int32_t>(order.forwards.size());
    schedule.table.push_back(alternate(order));
  }
  return schedule;
}

}  // namespace trireme
