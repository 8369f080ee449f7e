// Stages against every cut there is, and what is refused.
#include "lower/stages.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/error.h"

namespace trireme {
namespace {

using Sizes = std::vector<size_t>;

// Blocks per stage.
Sizes sizes(const std::vector<double>& costs, int32_t stages, const std::vector<int64_t>& layers = {}) {
  Sizes result;
  size_t at = 0;
  for (const auto& [first, end] : cut_stages(costs, stages, layers)) {
    EXPECT_EQ(first, at);
    EXPECT_GT(end, first);
    result.push_back(end - first);
    at = end;
  }
  EXPECT_EQ(at, costs.size());
  return result;
}

std::string error(const std::vector<double>& costs, int32_t stages, const std::vector<int64_t>& layers = {}) {
  try {
    cut_stages(costs, stages, layers);
  } catch (const UserError& failure) {
    return failure.what();
  }
  return "no error";
}

const std::vector<double> kFive = {0.1, 1, 1,  1,
                                   1,   1, 0.8};  // five layers between a cheap embedding and a head

TEST(Stages, FiveLayers) {
  EXPECT_EQ(sizes(kFive, 1), (Sizes{7}));
  EXPECT_EQ(sizes(kFive, 2), (Sizes{4, 3}));
  EXPECT_EQ(sizes(kFive, 3), (Sizes{3, 2, 2}));
  EXPECT_EQ(sizes(kFive, 7), (Sizes{1, 1, 1, 1, 1, 1, 1}));
  // A heavy head is alone in its stage.
  EXPECT_EQ(sizes({0, 1, 1, 1, 1, 1, 5}, 2), (Sizes{6, 1}));
  EXPECT_EQ(sizes({0, 1, 1, 1, 1, 1, 5}, 3), (Sizes{3, 3, 1}));
}

TEST(Stages, EvenThenEarliest) {
  EXPECT_EQ(sizes({0, 1, 1, 1, 1, 1, 0}, 2), (Sizes{3, 4}));
  EXPECT_EQ(sizes({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 4), (Sizes{2, 2, 3, 3}));
  EXPECT_EQ(sizes({0, 0, 0, 0}, 2), (Sizes{1, 3}));
}

// All cuts of the costs into stages, one after the other.
template <class Visit>
void for_all_cuts(const std::vector<double>& costs, size_t stages, Visit visit) {
  std::vector<bool> cut(costs.size() - 1, false);
  std::fill(cut.begin(), cut.begin() + static_cast<int64_t>(stages) - 1, true);
  do {
    double largest = 0, squares = 0, stage = costs[0];
    for (size_t i = 1; i <= costs.size(); ++i) {
      if (i < costs.size() && !cut[i - 1]) {
        stage += costs[i];
        continue;
      }
      largest = std::max(largest, stage);
      squares += stage * stage;
      if (i < costs.size()) stage = costs[i];
    }
    visit(largest, squares);
  } while (std::prev_permutation(cut.begin(), cut.end()));
}

TEST(Stages, NoCutIsBetter) {
  uint32_t state = 1;
  const auto draw = [&] { return static_cast<double>((state = state * 1664525u + 1013904223u) >> 28); };
  for (int round = 0; round < 60; ++round)
    for (int32_t stages = 1; stages <= 9; ++stages) {
      std::vector<double> costs(9);
      for (double& cost : costs) cost = draw();
      double largest = 0, squares = 0;
      for (const auto& [first, end] : cut_stages(costs, stages, {})) {
        double stage = 0;
        for (size_t i = first; i < end; ++i) stage += costs[i];
        largest = std::max(largest, stage);
        squares += stage * stage;
      }
      double least_largest = std::numeric_limits<double>::infinity(), least_squares = least_largest;
      for_all_cuts(costs, static_cast<size_t>(stages), [&](double a, double b) {
        if (a < least_largest) least_squares = b;
        least_largest = std::min(least_largest, a);
        if (a == least_largest) least_squares = std::min(least_squares, b);
      });
      EXPECT_EQ(largest, least_largest) << fmt::format("{} in {}", costs, stages);
      EXPECT_EQ(squares, least_squares) << fmt::format("{} in {}", costs, stages);
    }
}

TEST(Stages, AsListed) {
  EXPECT_EQ(sizes(kFive, 2, {1, 4}), (Sizes{2, 5}));
  EXPECT_EQ(sizes(kFive, 3, {0, 5, 0}), (Sizes{1, 5, 1}));
  EXPECT_EQ(sizes(kFive, 1, {5}), (Sizes{7}));
}

TEST(Stages, Refused) {
  EXPECT_EQ(error(kFive, 8),
            "parallel.pp x parallel.virtual_stages make 8 stages but the model has 7 blocks (the embedding, "
            "model.layers = 5, the head); use at most 7 stages");
  EXPECT_EQ(
      error(kFive, 3, {2, 3}),
      "parallel.stages = [2, 3] lists 2 stages but parallel.pp x parallel.virtual_stages make 3; give 3 "
      "numbers that add up to 5");
  EXPECT_EQ(
      error(kFive, 2, {2, 4}),
      "parallel.stages = [2, 4] adds up to 6 layers but model.layers = 5; give 2 numbers that add up to 5");
  EXPECT_EQ(
      error(kFive, 3, {2, 0, 3}),
      "parallel.stages = [2, 0, 3] leaves stage 1 of 3 empty; only the first (which has the embedding) and "
      "the last (which has the head) may have no layer");
}

TEST(Stages, ManyBlocksAreCutInMilliseconds) {
  std::vector<double> costs(98, 1e15);
  costs.front() = 1e12;
  costs.back() = 4e15;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(cut_stages(costs, 64, {}).size(), 64u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0.1);
}

}  // namespace
}  // namespace trireme
