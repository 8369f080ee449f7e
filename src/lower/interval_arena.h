// Offsets for things that come and go: the allocator behind every memory plan. First fit from below, so the
// long-lived that come first lie at the bottom and the peak stays near the sum of what is alive.
#pragma once
#include <cstdint>
#include <map>

namespace trireme {

class IntervalArena {
 public:
  explicit IntervalArena(int64_t alignment) : alignment_(alignment) {}

  int64_t take(int64_t bytes);  // the offset; sizes are rounded up to the alignment
  void give_back(int64_t offset, int64_t bytes);
  int64_t peak_bytes() const { return peak_; }

 private:
  int64_t rounded(int64_t bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }

  int64_t alignment_;
  int64_t end_ = 0;  // everything from here on is free
  int64_t peak_ = 0;
  std::map<int64_t, int64_t> gaps_;  // offset -> bytes, below end_, never adjacent
};

}  // namespace trireme
