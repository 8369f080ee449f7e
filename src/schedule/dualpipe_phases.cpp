// The phases of DualPipe for one rank. Source: DeepSeek-V3 technical report (2024), section 3.2.1 and
// figure 5.
#include "schedule/two_chunks.h"

namespace trireme {

namespace {

enum class Backward : uint8_t { whole, split };

void go_back(TwoChunkRow& row, int chunk, Backward how) {
  if (how == Backward::whole)
    row.backward(chunk);
  else
    row.backward_input(chunk);
}

// The pipeline fills: chunk 0 alone, then both, then chunk 1 begins to go back. Its input part goes on at
// once and the weight part fills the wait.
void fill(TwoChunkRow& row, int32_t below, int32_t place) {
  for (int32_t i = 0; i < 2 * below; ++i) row.forward(0);
  for (int32_t i = 0; i <= place; ++i) {
    row.forward(0);
    row.forward(1);
  }
  for (int32_t i = 0; i < below; ++i) {
    row.backward_input(1);
    row.oldest_weight();
    row.forward(1);
  }
}

// The pipeline drains: both go back, from half-way on in parts; then chunk 0 goes back between weight parts
// put off.
void drain(TwoChunkRow& row, int32_t below, int32_t place) {
  const int32_t both = place + 1;
  for (int32_t i = 0; i < 2 * both; ++i) {
    const int chunk = i % 2 == 0 ? 1 : 0;
    go_back(row, chunk, i < both ? Backward::whole : Backward::split);
  }
  for (int32_t i = 0; i < below; ++i) {
    row.oldest_weight();
    row.backward_input(0);
  }
  for (int32_t i = 0; i < both; ++i) row.oldest_weight();
}

}  // namespace

void run_dualpipe(TwoChunkRow& row, const DualPipeShape& shape) {
  const int32_t below = shape.depth - shape.place - 1;  // places under this one
  fill(row, below, shape.place);
  const int32_t steady = shape.per_chunk - 2 * shape.depth + shape.place + 1;
  for (int32_t i = 0; i < steady; ++i) {
    if (i == 0 && below == 0) {  // the turning point has just made what it sends back: nothing to overlap yet
      row.forward(0);
      row.backward(1);
    } else {
      row.pair(0, 1);
    }
    row.pair(1, 0);
  }
  for (int32_t i = 0; i < below; ++i) {  // chunk 0 has no forward left
    row.backward(1);
    row.pair(1, 0);
  }
  drain(row, below, shape.place);
}

}  // namespace trireme
