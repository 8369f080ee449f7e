// The next token from logits: what is kept, ties, and that draws follow the distribution.
#include "train/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace trireme {
namespace {

std::set<uint32_t> drawn(const SamplerOptions& options, const std::vector<float>& logits,
                         int64_t draws = 2000) {
  Sampler sampler(options);
  std::set<uint32_t> ids;
  for (int64_t i = 0; i < draws; ++i) ids.insert(sampler.sample(logits, i));
  return ids;
}

using Ids = std::set<uint32_t>;

TEST(Sampler, GreedyTakesTheLikeliestAndTheLowestOfEqualOnes) {
  EXPECT_EQ(drawn({.temperature = 0}, {1, 5, 5, 2}), (Ids{1}));
  EXPECT_EQ(drawn({.top_k = 1}, {1, 5, 5, 2}), (Ids{1}));
  EXPECT_EQ(drawn({.top_p = 0}, {1, 5, 5, 2}), (Ids{1}));
}

TEST(Sampler, TopKKeepsExactlyKAlsoAmongEqualOnes) {
  EXPECT_EQ(drawn({.top_k = 2}, {3, 1, 2.5f, 2}), (Ids{0, 2}));
  EXPECT_EQ(drawn({.top_k = 2}, {1, 1, 1, 1}), (Ids{0, 1}));
  EXPECT_EQ(drawn({.top_k = 9}, {1, 1, 1, 1}), (Ids{0, 1, 2, 3}));
}

// Probabilities 0.5, 0.3, 0.2: the fewest that together reach p.
TEST(Sampler, TopPKeepsTheFewestThatReachP) {
  const std::vector<float> logits = {std::log(0.2f), std::log(0.5f), std::log(0.3f)};
  EXPECT_EQ(drawn({.top_p = 0.45}, logits), (Ids{1}));
  EXPECT_EQ(drawn({.top_p = 0.55}, logits), (Ids{1, 2}));
  EXPECT_EQ(drawn({.top_p = 0.79}, logits), (Ids{1, 2}));
  EXPECT_EQ(drawn({.top_p = 0.81}, logits), (Ids{0, 1, 2}));
  EXPECT_EQ(drawn({.top_k = 2, .top_p = 1.0}, logits), (Ids{1, 2}));
}

// Pearson's chi-square of 20,000 draws over 8 ids (7 degrees of freedom: 24.3 is exceeded once in a
// thousand).
TEST(Sampler, DrawsFollowTheDistribution) {
  std::vector<float> logits;
  for (int i = 0; i < 8; ++i) logits.push_back(0.3f * static_cast<float>((i * 5) % 8));
  for (const double temperature : {0.7, 1.0, 2.0}) {
    std::vector<double> expected;
    double total = 0;
    for (const float logit : logits) total += expected.emplace_back(std::exp(logit / temperature));
    Sampler sampler({.temperature = temperature, .seed = 7});
    constexpr int64_t kDraws = 20000;
    std::vector<double> counts(8, 0.0);
    for (int64_t i = 0; i < kDraws; ++i) ++counts[sampler.sample(logits, i)];
    double chi_square = 0;
    for (size_t i = 0; i < 8; ++i) {
      const double mean = kDraws * expected[i] / total;
      chi_square += (counts[i] - mean) * (counts[i] - mean) / mean;
    }
    EXPECT_LT(chi_square, 24.3) << temperature;
  }
}

TEST(Sampler, IsAFunctionOfSeedAndIndex) {
  const std::vector<float> logits(50, 0.0f);
  Sampler a({.seed = 1}), b({.seed = 1}), c({.seed = 2});
  int differ = 0;
  for (int64_t i = 99; i >= 0; --i) b.sample(logits, i);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(a.sample(logits, i), b.sample(logits, i));
    differ += a.sample(logits, i) != c.sample(logits, i);
  }
  EXPECT_GT(differ, 80);
}

TEST(Sampler, SurvivesLogitsThatAreNoNumbers) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(drawn({}, {nan, 1, nan}), (Ids{1}));
  EXPECT_EQ(drawn({}, {nan, nan}), (Ids{0}));
  EXPECT_EQ(drawn({}, {0, inf, 0}), (Ids{1}));
  EXPECT_EQ(drawn({}, {-inf, 0, -inf}), (Ids{1}));
  EXPECT_EQ(drawn({}, {-inf, -inf}), (Ids{0}));
}

}  // namespace
}  // namespace trireme
