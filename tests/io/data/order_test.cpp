// The sample order: permutations are bijections, mixtures keep their shares at every moment.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "io/data/mixture.h"
#include "io/data/permutation.h"

namespace trireme {
namespace {

TEST(Permutation, IsABijection) {
  for (uint64_t size = 1; size <= 100; ++size) {
    for (uint64_t key = 0; key < 3; ++key) {
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < size; ++i) seen.insert(permuted(i, size, key));
      EXPECT_EQ(seen.size(), size);
      EXPECT_EQ(*seen.rbegin(), size - 1);
    }
  }
  for (const uint64_t size : {(1u << 17) - 1, 1u << 17, (1u << 17) + 1, 300000u}) {
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) seen[permuted(i, size, 5)] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<int64_t>(size));
  }
  const uint64_t huge = (uint64_t{1} << 62) + 12345;
  EXPECT_LT(permuted(huge - 1, huge, 1), huge);
}

// Each element comes equally often to each place. The deviation of a cell of n = 6000 draws with probability
// p = 1/size is sqrt(n p (1-p)); six deviations over at most 81 cells and 4 sizes fail by chance once in 10^6
// runs, and the keys are fixed.
TEST(Permutation, KeysGiveUniformPlaces) {
  constexpr int kKeys = 6000;
  for (const uint64_t size : {2, 3, 5, 9}) {
    std::vector<int> cells(size * size);
    for (uint64_t key = 0; key < kKeys; ++key) {
      for (uint64_t i = 0; i < size; ++i) ++cells[i * size + permuted(i, size, key * 0x1234567890abcdefull)];
    }
    const double p = 1.0 / static_cast<double>(size);
    for (const int cell : cells) EXPECT_NEAR(cell, kKeys * p, 6 * std::sqrt(kKeys * p * (1 - p))) << size;
  }
}

// Neighbours do not stay neighbours: that would be correlation between the samples of a batch.
TEST(Permutation, NeighboursPart) {
  constexpr uint64_t kSize = 10000;
  int close = 0;
  for (uint64_t i = 0; i + 1 < kSize; ++i) {
    const auto a = static_cast<int64_t>(permuted(i, kSize, 3)),
               b = static_cast<int64_t>(permuted(i + 1, kSize, 3));
    close += std::abs(a - b) <= 10;
  }
  EXPECT_LT(close, 60);  // expected 20 of 10,000
}

void expect_shares(const std::vector<double>& weights, int64_t samples) {
  const Mixture mixture(weights);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> counts(weights.size());
  for (int64_t n = 0; n < samples; ++n) {
    const Mixture::Place place = mixture.at(n);
    ASSERT_EQ(place.index, counts[static_cast<size_t>(place.source)]++);
    for (size_t s = 0; s < weights.size(); ++s) {
      ASSERT_LE(std::abs(static_cast<double>(counts[s]) - weights[s] / sum * static_cast<double>(n + 1)), 1.0)
          << "source " << s << " after " << n + 1;
    }
  }
  for (size_t s = 0; s < weights.size(); ++s)
    EXPECT_EQ(mixture.drawn(static_cast<int32_t>(s), samples), counts[s]);
}

TEST(Mixture, KeepsShares) {
  expect_shares({1}, 10);
  expect_shares({0.999, 0.001}, 5000);
  expect_shares({0.7, 0.3}, 1000);
  expect_shares({3, 5, 2}, 1000);
  expect_shares({0, 2, 0, 1}, 1000);
  expect_shares({0.9, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01}, 3000);
  expect_shares({123456789, 987654321, 555, 31415926}, 100000);  // no period up to 2^20
  expect_shares({std::sqrt(2.0), std::sqrt(3.0), 1}, 100000);
}

TEST(Mixture, FarPositionsAreReached) {
  const Mixture mixture({0.5, 0.25, 0.25});
  const int64_t far = (int64_t{1} << 60) + 3;
  EXPECT_EQ(mixture.at(far).index, mixture.drawn(mixture.at(far).source, far));
  EXPECT_EQ(mixture.drawn(0, int64_t{1} << 60), int64_t{1} << 59);
}

}  // namespace
}  // namespace trireme
