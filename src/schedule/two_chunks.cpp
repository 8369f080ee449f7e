// Counting the micro-batches of two chunks.
#include "schedule/two_chunks.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {

void TwoChunkRow::push(int chunk, StepKind kind, int32_t count) {
  const Chunk& at = chunks_[static_cast<size_t>(chunk)];
  row_.push_back({at.stage, kind, at.first_micro_batch + count});
}

void TwoChunkRow::forward(int chunk) {
  push(chunk, StepKind::forward, forwards_[static_cast<size_t>(chunk)]++);
}

void TwoChunkRow::backward(int chunk) {
  push(chunk, StepKind::backward, backwards_[static_cast<size_t>(chunk)]++);
}

void TwoChunkRow::backward_input(int chunk) {
  const int32_t count = backwards_[static_cast<size_t>(chunk)]++;
  push(chunk, StepKind::backward_input, count);
  pending_.emplace_back(chunk, count);
}

void TwoChunkRow::backward_weight(int chunk) {
  const auto oldest = std::ranges::find(pending_, chunk, &std::pair<int, int32_t>::first);
  CHECK(oldest != pending_.end(), "chunk {} has no weight part left", chunk);
  push(chunk, StepKind::backward_weight, oldest->second);
  pending_.erase(oldest);
}

void TwoChunkRow::oldest_weight() {
  CHECK(!pending_.empty(), "no weight part left");
  backward_weight(pending_.front().first);
}

void TwoChunkRow::pair(int forward_chunk, int backward_chunk) {
  forward(forward_chunk);
  row_.back().with_next = true;
  backward(backward_chunk);
}

int32_t TwoChunkRow::weights_left(int chunk) const {
  return static_cast<int32_t>(std::ranges::count(pending_, chunk, &std::pair<int, int32_t>::first));
}

}  // namespace trireme
