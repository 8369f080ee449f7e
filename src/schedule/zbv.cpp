// ZB-V: two stages per rank in a V, backward in two parts. Since the rank with the first stage has the last
// one too, a micro-batch comes back where it entered and all ranks store the same.
//   rank 1 of 2, 3 micro-batches: 1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 2I2 1I2 1W1 2W2 1W2
#include <algorithm>

#include "schedule/alternate.h"
#include "schedule/placement.h"
#include "schedule/schedules.h"
#include "schedule/two_chunks.h"

namespace trireme {

namespace {

void fill(TwoChunkRow& row, int32_t rank, int32_t from_bottom) {
  for (int32_t i = 0; i < 2 * from_bottom - 1; ++i) row.forward(0);
  for (int32_t i = 0; i < rank; ++i) {
    row.forward(1);
    row.forward(0);
  }
  for (int32_t i = 0; i < from_bottom; ++i) {
    row.forward(1);
    row.backward_input(1);
    row.backward_weight(1);
  }
}

// Every chunk goes once forward and once back in turn, until all micro-batches have gone forward.
void run_steady(TwoChunkRow& row, int32_t micro_batches) {
  while (row.forwards_done(1) < micro_batches) {
    if (row.forwards_done(0) < micro_batches) row.forward(0);
    row.backward_input(0);
    row.backward_weight(0);
    row.forward(1);
    row.backward_input(1);
    row.backward_weight(1);
  }
}

// Weight parts are put off, so that input parts reach the ranks that wait for them.
void drain(TwoChunkRow& row, int32_t rank, int32_t from_bottom) {
  for (int32_t i = 0; i < rank; ++i) {
    row.backward_input(0);
    row.backward_input(1);
  }
  for (int32_t i = 0; i < from_bottom; ++i) {
    row.backward_input(0);
    row.backward_weight(0);
  }
  for (const int chunk : {1, 0})
    while (row.weights_left(chunk) > 0) row.backward_weight(chunk);
}

}  // namespace

Schedule zbv(const ScheduleInput& input) {
  Schedule schedule{{}, v_placement(input.ranks), input.micro_batches, true};
  // The phases need 2p - 1 micro-batches; of fewer, those that are not there are left out.
  const int32_t padded = std::max(input.micro_batches, 2 * input.ranks - 1);
  for (int32_t rank = 0; rank < input.ranks; ++rank) {
    TwoChunkRow row({rank, 0}, {2 * input.ranks - 1 - rank, 0});
    fill(row, rank, input.ranks - rank);
    run_steady(row, padded);
    drain(row, rank, input.ranks - rank);
    schedule.table.push_back(row.take());
    drop_padding(schedule.table.back(), input.micro_batches);
  }
  return schedule;
}

}  // namespace trireme
