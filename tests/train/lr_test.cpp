// The learning rate as a function of the step: corners, curves by hand, and that a resume changes nothing.
#include "train/lr.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme {
namespace {

LrSpec spec(LrKind kind, int64_t warmup, int64_t decay, int64_t cooldown = 0, double min_ratio = 0.1) {
  LrSpec s;
  s.kind = kind;
  s.warmup_steps = warmup;
  s.decay_steps = decay;
  s.cooldown_steps = cooldown;
  s.min_ratio = min_ratio;
  return s;
}

constexpr double kPeak = 3e-4;

TEST(LearningRate, IsFiniteAndWithinBoundsInEveryCorner) {
  for (const LrKind kind : {LrKind::constant, LrKind::linear, LrKind::cosine, LrKind::wsd})
    for (const int64_t total : {1, 2, 10, 100})
      for (const int64_t warmup : {0, 1, 2, 10, 100})
        for (const int64_t cooldown : {0, 1, 2, 10}) {
          if (warmup > total || cooldown > total - warmup) continue;  // the config refuses them
          for (int64_t step = 0; step <= total + 5; ++step) {
            const double lr = learning_rate(spec(kind, warmup, total, cooldown), kPeak, step);
            ASSERT_TRUE(std::isfinite(lr)) << warmup << " " << total << " " << step;
            ASSERT_GE(lr, step < warmup ? 0 : 0.1 * kPeak * (1 - 1e-12));
            ASSERT_LE(lr, kPeak * (1 + 1e-12));
          }
        }
}

TEST(LearningRate, WithoutWarmupTheFirstStepHasThePeak) {
  for (const LrKind kind : {LrKind::constant, LrKind::linear, LrKind::cosine, LrKind::wsd})
    EXPECT_EQ(learning_rate(spec(kind, 0, 10, 2), kPeak, 0), kPeak);
}

TEST(LearningRate, WarmupRisesInEqualPartsFromAboveZeroToThePeak) {
  const LrSpec s = spec(LrKind::cosine, 4, 100);
  for (int64_t step = 0; step < 4; ++step)
    EXPECT_DOUBLE_EQ(learning_rate(s, kPeak, step), kPeak * static_cast<double>(step + 1) / 5.0);
  EXPECT_EQ(learning_rate(s, kPeak, 4), kPeak);
  // warmup as long as the run: the peak is where the run ends.
  EXPECT_DOUBLE_EQ(learning_rate(spec(LrKind::cosine, 10, 10), kPeak, 9), kPeak * 10 / 11);
}

TEST(LearningRate, CurvesByHand) {
  // Halfway between step 20 and step 100.
  EXPECT_NEAR(learning_rate(spec(LrKind::linear, 20, 100), 1.0, 60), 0.55, 1e-15);
  EXPECT_NEAR(learning_rate(spec(LrKind::cosine, 20, 100), 1.0, 60), 0.55, 1e-15);
  EXPECT_NEAR(learning_rate(spec(LrKind::cosine, 20, 100), 1.0, 40), 0.1 + 0.45 * (1 + std::sqrt(0.5)),
              1e-15);
  EXPECT_NEAR(learning_rate(spec(LrKind::linear, 20, 100, 0, 0.0), 1.0, 99), 1.0 / 80, 1e-15);
  const LrSpec wsd = spec(LrKind::wsd, 20, 100, 10);
  EXPECT_EQ(learning_rate(wsd, 1.0, 20), 1.0);
  EXPECT_EQ(learning_rate(wsd, 1.0, 90), 1.0);
  EXPECT_NEAR(learning_rate(wsd, 1.0, 95), 0.55, 1e-15);
  EXPECT_EQ(learning_rate(spec(LrKind::constant, 20, 100), 1.0, 99), 1.0);
}

TEST(LearningRate, StaysAtTheFloorAfterTheDecay) {
  for (const LrKind kind : {LrKind::linear, LrKind::cosine, LrKind::wsd})
    for (const int64_t step : {100, 101, 100000})
      EXPECT_EQ(learning_rate(spec(kind, 10, 100, 20), kPeak, step), 0.1 * kPeak);
}

TEST(LearningRate, HugeStepCountsDoNotOverflow) {
  const LrSpec s = spec(LrKind::linear, 0, 1'000'000'000'000);
  EXPECT_NEAR(learning_rate(s, 1.0, 500'000'000'000), 0.55, 1e-12);
}

}  // namespace
}  // namespace trireme
