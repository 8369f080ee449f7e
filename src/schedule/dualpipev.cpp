// DualPipeV: DualPipe cut in half. A rank and its mirror, which hold copies of the same two stages, become
// one rank, so that one copy is enough; the micro-batches enter at one end.
//   rank 0 of 1, 2 micro-batches: 0F0 1F0 0F1 1B0 1F1+0B0 1B1 0I1 0W1
#include "schedule/placement.h"
#include "schedule/schedules.h"
#include "schedule/two_chunks.h"

namespace trireme {

Schedule dualpipev(const ScheduleInput& input) {
  Schedule schedule{{}, v_placement(input.ranks), input.micro_batches, true};
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    TwoChunkRow row({rank, 0}, {2 * input.ranks - 1 - rank, 0});
    run_dualpipe(row, {.depth = input.ranks, .place = rank, .per_chunk = input.micro_batches});
    schedule.table.push_back(row.take());
  }
  return schedule;
}

}  // namespace trireme
