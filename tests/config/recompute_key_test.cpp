// parallel.recompute: none unless said otherwise, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

TEST(RecomputeKey, IsOneOfThree) {
  EXPECT_EQ(with({}).parallel.recompute, RecomputeKind::none);
  EXPECT_EQ(with({"parallel.recompute=selective"}).parallel.recompute, RecomputeKind::selective);
  EXPECT_EQ(with({"parallel.recompute=full"}).parallel.recompute, RecomputeKind::full);
  EXPECT_THAT(error_with({"parallel.recompute=fulll"}),
              testing::HasSubstr("is not one of none, selective, full; did you mean full?"));
}

}  // namespace
}  // namespace trireme::test
