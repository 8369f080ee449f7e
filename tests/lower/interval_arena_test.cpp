// The allocator against a naive model: a byte map.
#include "lower/interval_arena.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/random.h"

namespace trireme {
namespace {

constexpr int64_t kAlignment = 64;

TEST(IntervalArena, FirstFitFromBelow) {
  IntervalArena arena(kAlignment);
  EXPECT_EQ(arena.take(1), 0);
  EXPECT_EQ(arena.take(64), 64);
  EXPECT_EQ(arena.take(65), 128);
  arena.give_back(0, 1);
  EXPECT_EQ(arena.take(65), 256) << "the gap of 64 is too small";
  EXPECT_EQ(arena.take(64), 0);
  EXPECT_EQ(arena.peak_bytes(), 384);
}

TEST(IntervalArena, NeighbouringGapsAreOne) {
  IntervalArena arena(kAlignment);
  for (int i = 0; i < 4; ++i) arena.take(64);
  arena.give_back(0, 64);
  arena.give_back(128, 64);
  arena.give_back(64, 64);
  EXPECT_EQ(arena.take(192), 0);
  arena.give_back(192, 64);
  arena.give_back(0, 192);
  EXPECT_EQ(arena.take(1024), 0) << "a gap at the end is the end";
  EXPECT_EQ(arena.peak_bytes(), 1024);
}

// Thousands of random takes and gives: the offset is the lowest that is free for long enough, and the peak is
// the highest end so far.
TEST(IntervalArena, AgreesWithAByteMap) {
  for (const char* seed : {"a", "b", "c", "d"}) {
    const RandomStream random(7, seed);
    uint64_t draw = 0;
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random.uniform(draw++) * static_cast<double>(n));
    };
    IntervalArena arena(kAlignment);
    std::vector<bool> taken(4096);  // by 64 bytes
    std::vector<std::pair<int64_t, int64_t>> live;
    int64_t peak = 0;
    for (int step = 0; step < 4000; ++step) {
      if (!live.empty() && (live.size() > 60 || below(2) == 0)) {
        const auto pick = static_cast<size_t>(below(static_cast<int64_t>(live.size())));
        const auto [offset, bytes] = live[pick];
        arena.give_back(offset, bytes);
        for (int64_t u = offset / 64; u < (offset + bytes + 63) / 64; ++u)
          taken[static_cast<size_t>(u)] = false;
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(pick));
        continue;
      }
      const int64_t bytes = 1 + below(1500), units = (bytes + 63) / 64;
      int64_t expected = 0;
      for (int64_t run = 0, u = 0; run < units; ++u) {
        run = taken.at(static_cast<size_t>(u)) ? 0 : run + 1;
        expected = (u + 1 - run) * 64;
      }
      const int64_t offset = arena.take(bytes);
      ASSERT_EQ(offset, expected) << seed << " step " << step;
      for (int64_t u = offset / 64; u < offset / 64 + units; ++u) taken[static_cast<size_t>(u)] = true;
      live.emplace_back(offset, bytes);
      peak = std::max(peak, offset + units * 64);
      ASSERT_EQ(arena.peak_bytes(), peak);
    }
  }
}

}  // namespace
}  // namespace trireme
