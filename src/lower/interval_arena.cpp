// First fit over a sorted map of gaps.
#include "lower/interval_arena.h"

#include <algorithm>

namespace trireme {

int64_t IntervalArena::take(int64_t bytes) {
  const int64_t need = rounded(bytes);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->second < need) continue;
    const int64_t offset = gap->first, left = gap->second - need;
    gaps_.erase(gap);
    if (left > 0) gaps_.emplace(offset + need, left);
    return offset;
  }
  // A gap that touches the end is never kept, so the new piece starts at the end.
  const int64_t offset = end_;
  end_ += need;
  peak_ = std::max(peak_, end_);
  return offset;
}

void IntervalArena::give_back(int64_t offset, int64_t bytes) {
  int64_t begin = offset, end = offset + rounded(bytes);
  auto next = gaps_.lower_bound(begin);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      gaps_.erase(before);
    }
  }
  if (next != gaps_.end() && next->first == end) {
    end += next->second;
    gaps_.erase(next);
  }
  if (end == end_) {
    end_ = begin;
  } else if (end > begin) {
    gaps_.emplace(begin, end - begin);
  }
}

}  // namespace trireme
