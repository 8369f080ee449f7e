// Messages suggest the nearest name, and only when it is near.
#include "base/error.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Nearest, SuggestsTypos) {
  EXPECT_EQ(nearest("learing_rate", {"learning_rate", "lr", "warmup"}), "learning_rate");
  EXPECT_EQ(nearest("bogus", {"learning_rate", "lr"}), "");
}

TEST(Check, AbortsWithValues) { EXPECT_DEATH(CHECK(1 == 2, "got {}", 7), "1 == 2.*got 7"); }

}  // namespace
}  // namespace trireme
