// Korthikanti et al. 2022: table 2's forms at numbers by hand.
#include "plan/calculators/activation_bytes.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

constexpr ActivationShape kSevenB{.seq = 8192, .micro = 1, .width = 4096, .layers = 32, .heads = 32};

TEST(ActivationBytes, OfASevenBAtEightThousandTokens) {
  EXPECT_EQ(activation_bytes(kSevenB, Saved::scores), 8192.0 * 4096 * 32 * (34 + 5 * 64));
  EXPECT_NEAR(activation_bytes(kSevenB, Saved::scores), 380e9, 0.5e9);
  EXPECT_NEAR(activation_bytes(kSevenB, Saved::no_scores), 36.5e9, 0.05e9);
  EXPECT_EQ(activation_bytes(kSevenB, Saved::inputs), 2.0 * 8192 * 4096 * 32);
}

TEST(ActivationBytes, TensorAndSequenceParallel) {
  ActivationShape shape = kSevenB;
  shape.tp = 8;
  const double unit = 8192.0 * 4096 * 32;
  EXPECT_EQ(activation_bytes(shape, Saved::no_scores), unit * (10 + 3));
  EXPECT_EQ(activation_bytes(shape, Saved::scores), unit * (10 + 3 + 40));
  EXPECT_EQ(activation_bytes(shape, Saved::inputs), unit * 2);
  shape.sequence = true;
  EXPECT_EQ(activation_bytes(shape, Saved::no_scores), unit * 34 / 8);
  EXPECT_EQ(activation_bytes(shape, Saved::scores), unit * (34.0 / 8 + 40));
  EXPECT_EQ(activation_bytes(shape, Saved::inputs), unit / 4);
}

TEST(ActivationBytes, ShowTheirFormulas) {
  const std::vector<Worked> results = worked_activations(kSevenB);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].formula, "s*b*h*L * (10 + 24/t + 5*a*s/(h*t))");
  EXPECT_EQ(results[0].numbers, "8192*1*4096*32 * (10 + 24/1 + 5*32*8192/(4096*1))");
  EXPECT_EQ(results[0].shown, "380.1 GB");
  EXPECT_EQ(results[1].shown, "36.5 GB");
}

}  // namespace
}  // namespace trireme
