// A copy shared out among the threads of a rank.
#pragma once
#include <cstddef>
#include <cstring>

#include "device/cpu/parallel.h"

namespace trireme {

inline constexpr int64_t kCopyGrainBytes = 65536;  // that are worth a thread

// The two do not overlap, or are the same place.
inline void parallel_copy(int threads, const std::byte* from, std::byte* to, int64_t bytes) {
  if (from == to) return;
  parallel_for(threads, bytes, kCopyGrainBytes, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace trireme
