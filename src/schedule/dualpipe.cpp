// DualPipe: micro-batches enter at both ends of the pipeline, so every rank has a stage of each direction,
// and a forward of one direction runs at once with a backward of the other. Rank and mirrored rank hold
// copies of the same two stages. Direction 0 takes the first half of the step's micro-batches and direction 1
// the second half, each in order: with two or more lanes per data-parallel rank a copy's gradient is then a
// whole number of lanes, and adding the copies is the top of the tree that adds the lanes.
//   rank 0 of 2, 4 micro-batches: 0F0 1F2 0F1+1B2 1F3+0B0 1B3 0I1 0W1
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/schedules.h"
#include "schedule/two_chunks.h"

namespace trireme {

Schedule dualpipe(const ScheduleInput& input) {
  Schedule schedule{{}, two_way_placement(input.ranks), input.micro_batches, true};
  const int32_t half = input.micro_batches / 2;
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    const int32_t mirror = input.ranks - 1 - rank;
    const TwoChunkRow::Chunk down{rank, 0}, up{mirror, half};
    // Chunk 0 is of the direction that enters nearer to this rank.
    TwoChunkRow row = rank < mirror ? TwoChunkRow(down, up) : TwoChunkRow(up, down);
    run_dualpipe(row, {.depth = input.ranks / 2, .place = std::min(rank, mirror), .per_chunk = half});
    schedule.table.push_back(row.take());
  }
  return schedule;
}

}  // namespace trireme
