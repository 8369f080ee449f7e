// A measured machine that was not left alone.
#include "calibrate/disturbed.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Disturbed, CountsWhatThreadsMadeSlower) {
  Hardware hardware;
  hardware.ops = {
      {"linear", "bf16", 1, {{{64, 64}, 10e-6}, {{128, 64}, 100e-6}, {{256, 64}, 200e-6}, {{512, 64}, 1e-3}}},
      {"linear", "bf16", 2, {{{64, 64}, 1e-3}, {{128, 64}, 60e-6}, {{256, 64}, 12e-3}, {{512, 64}, 1.9e-3}}},
      {"linear", "f32", 2, {{{128, 64}, 1}}},  // nothing to hold it against
      {"norm", "bf16", 1, {{{256}, 1e-3}}},
  };
  const ThreadedPoints points = threaded_points(hardware);
  EXPECT_EQ(points.all, 3U);
  EXPECT_EQ(points.slower, 1U);
}

}  // namespace
}  // namespace trireme
