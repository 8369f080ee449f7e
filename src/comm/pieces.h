// How an array is cut into one contiguous piece per rank: all of one length, but for the last ones when it
// does not divide. Units (elements or bytes) are the caller's.
#pragma once
#include <algorithm>
#include <cstdint>

namespace trireme {

struct Pieces {
  int64_t count = 0;   // the whole array
  int64_t length = 0;  // of a full piece

  int64_t begin(int rank) const { return std::min(count, rank * length); }
  int64_t end(int rank) const { return std::min(count, (rank + 1) * length); }
  int64_t size(int rank) const { return end(rank) - begin(rank); }
};

// Pieces of a multiple of `align`, so that they start on cache lines where the array does.
inline Pieces cut(int64_t count, int ranks, int64_t align) {
  const int64_t length = (count + ranks - 1) / ranks;
  return {.count = count, .length = (length + align - 1) / align * align};
}

}  // namespace trireme
