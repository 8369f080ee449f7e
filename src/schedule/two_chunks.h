// The row of a rank that has two chunks of the model, 0 and 1, and feeds micro-batches through both: the
// V-shaped schedules and DualPipe. It counts what each chunk has done, so that a schedule says only which
// chunk is next.
#pragma once
#include <array>
#include <deque>

#include "schedule/schedule.h"

namespace trireme {

class TwoChunkRow {
 public:
  struct Chunk {
    int32_t stage = 0;
    int32_t first_micro_batch = 0;
  };
  TwoChunkRow(Chunk zero, Chunk one) : chunks_{zero, one} {}

  // The next micro-batch of the chunk.
  void forward(int chunk);
  void backward(int chunk);
  void backward_input(int chunk);
  // The oldest input part whose weight part is still to come: of the chunk, or of both.
  void backward_weight(int chunk);
  void oldest_weight();
  // The next forward of one chunk at once with the next whole backward of the other.
  void pair(int forward_chunk, int backward_chunk);

  int32_t forwards_done(int chunk) const { return forwards_[static_cast<size_t>(chunk)]; }
  int32_t weights_left(int chunk) const;
  std::vector<ScheduleStep> take() { return std::move(row_); }

 private:
  void push(int chunk, StepKind kind, int32_t count);
  std::array<Chunk, 2> chunks_;
  std::array<int32_t, 2> forwards_{}, backwards_{};
  std::deque<std::pair<int, int32_t>> pending_;  // chunk, how many of its backwards came before
  std::vector<ScheduleStep> row_;
};

// The eight phases that DualPipe and DualPipeV share. A micro-batch passes 2 x depth chunks: chunk 0 of the
// ranks at place 0, 1, ... depth - 1, then chunk 1 of the same places from the last to the first (in
// DualPipe, those of the mirrored ranks).
struct DualPipeShape {
  int32_t depth = 1;
  int32_t place = 0;      // of this rank
  int32_t per_chunk = 2;  // micro-batches that each chunk runs, 2 x depth or more
};
void run_dualpipe(TwoChunkRow& row, const DualPipeShape& shape);

}  // namespace trireme
