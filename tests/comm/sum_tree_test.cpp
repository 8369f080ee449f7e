// The loops of every instruction set of this machine against the tree by hand, to the bit.
#include "comm/sum_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/collective_checks.h"

namespace trireme {
namespace {

TEST(SumTree, EveryInstructionSetAndRankCountGivesTheTreesBits) {
  for (const SumLoops& loops : sum_loops())
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 64, 65, 100})
      for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
        for (const int64_t count : {0, 1, 37, 2500}) {
          std::vector<std::vector<std::byte>> inputs;
          std::vector<const void*> sources;
          for (int r = 0; r < ranks; ++r) inputs.push_back(contribution(dtype, r, count));
          for (const auto& input : inputs) sources.push_back(input.data());
          std::vector<std::byte> sum(inputs[0].size());
          sum_tree(loops, dtype, sources, sum.data(), count);
          EXPECT_EQ(sum, expected_sum(dtype, ranks, count))
              << loops.name << " " << ranks << " " << name_of(dtype);
          sum_tree(loops, dtype, sources, inputs[0].data(), count);
          EXPECT_EQ(inputs[0], sum) << "in place: " << loops.name << " " << ranks;
        }
}

TEST(SumTree, OrderShows) {
  // 1 is lost beside 2^24 unless the tree pairs the two ones first.
  const std::vector<float> values = {16777216.0f, -16777216.0f, 1.0f, 1.0f, 16777216.0f};
  std::vector<const void*> sources;
  for (const float& value : values) sources.push_back(&value);
  float sum = 0;
  sum_tree(DType::f32, sources, &sum, 1);
  EXPECT_EQ(sum, 16777218.0f);
  std::swap(sources[1], sources[2]);  // ((2^24+1) + (-2^24+1)) + 2^24
  sum_tree(DType::f32, sources, &sum, 1);
  EXPECT_EQ(sum, 16777216.0f);
}

TEST(SumTree, Bf16SumsInF32AndRoundsOnce) {
  // 256 + 1 + 1 is 258 in f32; bf16 after each addition would stay at 256.
  const std::vector<bf16> values = {to_bf16(256.0f), to_bf16(1.0f), to_bf16(1.0f)};
  std::vector<const void*> sources;
  for (const bf16& value : values) sources.push_back(&value);
  bf16 sum;
  sum_tree(DType::bf16, sources, &sum, 1);
  EXPECT_EQ(to_float(sum), 258.0f);
}

TEST(SumTree, InfinityAndNanComeThrough) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const SumLoops& loops : sum_loops()) {
    const std::vector<bf16> a(19, to_bf16(infinity)), b(19, to_bf16(-infinity));
    const void* sources[] = {a.data(), b.data()};
    std::vector<bf16> sum(19);
    sum_tree(loops, DType::bf16, sources, sum.data(), 19);
    for (const bf16 x : sum) EXPECT_TRUE(std::isnan(to_float(x))) << loops.name;
    sum_tree(loops, DType::bf16, {sources, 1}, sum.data(), 19);
    for (const bf16 x : sum) EXPECT_EQ(to_float(x), infinity) << loops.name;
  }
}

TEST(SumTree, SubtreesOfPowersOfTwoCombine) {
  // What a host's ranks may sum among themselves before the hosts do.
  const int64_t count = 300;
  std::vector<std::vector<std::byte>> inputs;
  for (int r = 0; r < 6; ++r) inputs.push_back(contribution(DType::f32, r, count));
  std::vector<std::vector<std::byte>> partials(3, std::vector<std::byte>(inputs[0].size()));
  std::vector<const void*> pairs;
  for (size_t p = 0; p < 3; ++p) {
    const void* pair[] = {inputs[2 * p].data(), inputs[2 * p + 1].data()};
    sum_tree(DType::f32, pair, partials[p].data(), count);
    pairs.push_back(partials[p].data());
  }
  std::vector<std::byte> sum(inputs[0].size());
  sum_tree(DType::f32, pairs, sum.data(), count);
  EXPECT_EQ(sum, expected_sum(DType::f32, 6, count));
}

}  // namespace
}  // namespace trireme
