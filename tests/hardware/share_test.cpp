// What a rank has of a node, and the rank counts that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware_text.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

Hardware gpus() {
  Hardware h;
  h.name = "gpus";
  h.memory_bytes = 80;
  h.overhead_bytes = 3;
  h.memory_bytes_per_s = 100;
  h.devices_per_node = 8;
  h.between.bytes_per_s = 1;
  return h;
}

std::string refusal(const Hardware& h, int64_t ranks, int64_t nodes) {
  try {
    share_of(h, ranks, nodes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Share, AGpuIsOneRanks) {
  const RankShare share = share_of(gpus(), 12, 2);
  EXPECT_EQ(share.ranks_per_node, 6);
  EXPECT_EQ(share.threads, 1);
  EXPECT_EQ(share.slowdown, 1);
  EXPECT_EQ(share.memory_bytes, 77);
  EXPECT_EQ(share.memory_bytes_per_s, 100);
}

TEST(Share, ACpuIsSharedEvenly) {
  Hardware h = gpus();
  h.kind = DeviceClass::cpu;
  const RankShare two = share_of(h, 2, 1);
  EXPECT_EQ(two.threads, 4);
  EXPECT_EQ(two.slowdown, 1);
  EXPECT_EQ(two.memory_bytes, 37);
  EXPECT_EQ(two.memory_bytes_per_s, 50);
  EXPECT_EQ(share_of(h, 3, 1).threads, 2);
  const RankShare many = share_of(h, 16, 1);
  EXPECT_EQ(many.threads, 1);
  EXPECT_EQ(many.slowdown, 2);
  EXPECT_THAT(refusal(h, 32, 1), HasSubstr("32 ranks on a node of gpus leave no memory to a rank"));
}

TEST(Share, RefusesRanksThatDoNotFit) {
  EXPECT_EQ(refusal(gpus(), 20, 2), "--nodes 2 of gpus have 16 devices for 20 ranks; use 3 nodes or more");
  EXPECT_EQ(refusal(gpus(), 9, 2),
            "--nodes 2 does not divide the 9 ranks; use a divisor of 9, or leave --nodes out");
  EXPECT_THAT(refusal(gpus(), 8, 0), HasSubstr("--nodes 0 of gpus hold no rank; use 1 or more"));
  EXPECT_THAT(refusal(gpus(), 0, 1), HasSubstr("ranks = 0"));
  Hardware alone = gpus();
  alone.between.bytes_per_s = 0;
  EXPECT_THAT(refusal(alone, 16, 2), HasSubstr("says nothing of what joins nodes; add [between]"));
  EXPECT_EQ(refusal(alone, 8, 1), "no error");
}

}  // namespace
}  // namespace trireme::test
