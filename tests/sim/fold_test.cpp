// Which ranks are simulated, and who meets whom.
#include "sim/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme {
namespace {

using testing::ElementsAre;

// 2 stages x 4 parts of the data x cp 2 x tp 2.
const Mesh kMesh = {.pp = 2, .dp_shard = 4, .cp = 2, .tp = 2};

std::vector<int64_t> stands_for(const Folding& fold) {
  std::vector<int64_t> counts;
  for (const SimRank& rank : fold.ranks()) counts.push_back(rank.stands_for);
  return counts;
}

TEST(Folding, EqualRanksAreOnePerStage) {
  const Folding fold(kMesh, {});
  EXPECT_THAT(stands_for(fold), ElementsAre(16, 16));
  EXPECT_EQ(fold.ranks()[1].rank, 16);
  EXPECT_EQ(fold.ranks()[1].program, 1u);
}

TEST(Folding, ADisturbedUnitIsAKindOfItsOwn) {
  const Folding fold(kMesh, {.slow = {{22, 1.5}}});  // stage 1, part 1 of the data
  EXPECT_THAT(stands_for(fold), ElementsAre(4, 12, 4, 12));
  EXPECT_EQ(fold.ranks()[0].rank, 4);
  EXPECT_EQ(fold.ranks()[1].rank, 0);
  EXPECT_EQ(fold.ranks()[0].slowdown, 1.0) << "the slow one is on the other stage";
  EXPECT_EQ(fold.ranks()[2].slowdown, 1.5);
}

TEST(Folding, GroupsOfOneUnitStayInItAndOthersJoinAllKinds) {
  const Folding fold(kMesh, {.slow = {{22, 1.5}}});
  const CommGroup link{"0>1", 0, {0, 16}}, dp{"dp", 1, {0, 2, 4, 6, 8, 10, 12, 14}}, tp{"tp", 2, {0, 1}};
  EXPECT_THAT(fold.members(0, link), ElementsAre(0, 2));
  EXPECT_THAT(fold.members(3, link), ElementsAre(1, 3));
  EXPECT_THAT(fold.members(1, dp), ElementsAre(0, 1));
  EXPECT_THAT(fold.members(1, tp), ElementsAre(1));
}

TEST(Folding, RanksThatShareExpertsAreOneUnit) {
  const Mesh mesh{.dp_shard = 8, .ep = 4};
  const Folding fold(mesh, {.slow = {{5, 2.0}}});
  EXPECT_THAT(stands_for(fold), ElementsAre(4, 4));
  EXPECT_EQ(fold.ranks()[0].rank, 4);
}

TEST(Folding, RefusesRanksThatAreNotThere) {
  EXPECT_THROW(Folding(kMesh, {.slow = {{32, 1.5}}}), UserError);
  EXPECT_THROW(Folding(kMesh, {.slow = {{-1, 1.5}}}), UserError);
  EXPECT_THROW(Folding(kMesh, {.slow = {{0, 0.0}}}), UserError);
}

}  // namespace
}  // namespace trireme
