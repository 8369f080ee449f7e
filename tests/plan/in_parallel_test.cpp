// Each input once, whatever the threads.
#include "plan/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace trireme {
namespace {

TEST(InParallel, CallsEachOnce) {
  for (const int threads : {0, 1, 3, 64}) {
    std::vector<std::atomic<int>> calls(50);
    in_parallel(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
  in_parallel(0, 4, [](size_t) { FAIL(); });
}

TEST(InParallel, ThrowsOnceAllHaveEnded) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(in_parallel(20, 4,
                           [&](size_t i) {
                             ++calls;
                             if (i == 3) throw std::runtime_error("three");
                           }),
               std::runtime_error);
  EXPECT_EQ(calls, 20);
}

}  // namespace
}  // namespace trireme
