// Random numbers are a pure function of (seed, purpose, index), with the published Philox constants.
#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme {
namespace {

// Known answers of Philox4x32-10 from the Random123 distribution (kat_vectors).
TEST(Philox, KnownAnswers) {
  const auto zero = philox({0, 0, 0, 0}, {0, 0});
  EXPECT_EQ(zero, (std::array<uint32_t, 4>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  const uint32_t f = 0xffffffffu;
  const auto ones = philox({f, f, f, f}, {f, f});
  EXPECT_EQ(ones, (std::array<uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(RandomStream, PurposesAndSeedsAreIndependent) {
  const RandomStream a(1, "init/a"), b(1, "init/b"), c(2, "init/a");
  EXPECT_NE(a.bits(0), b.bits(0));
  EXPECT_NE(a.bits(0), c.bits(0));
  EXPECT_EQ(a.bits(7), RandomStream(1, "init/a").bits(7));
}

TEST(RandomStream, NormalHasUnitMoments) {
  const RandomStream stream(3, "moments");
  const int n = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal(i);
    sum += x;
    squares += x * x;
  }
  // Standard errors: 1/sqrt(n) for the mean, sqrt(2/n) for the variance; five of them are allowed.
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
}

}  // namespace
}  // namespace trireme
