// Work that shares ranks and links.
#include "sim/flow.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

constexpr Reach kInside = Reach::inside;

TEST(Flow, JobsThatShareNothingGoAtFullSpeed) {
  Flow flow(2, 0.0);
  const int64_t a = flow.compute(0, 2.0, 0, kInside), b = flow.compute(1, 3.0, 0, kInside);
  const int64_t c = flow.transfer({{0}, {1}}, 1.0, kInside);
  EXPECT_EQ(flow.next(), c);
  EXPECT_EQ(flow.next(), a);
  EXPECT_DOUBLE_EQ(flow.now(), 2.0);
  EXPECT_EQ(flow.next(), b);
  EXPECT_DOUBLE_EQ(flow.now(), 3.0);
  EXPECT_EQ(flow.next(), -1);
}

TEST(Flow, TransfersOfOneWayShareItAndOthersDoNot) {
  Flow flow(2, 0.0);
  flow.transfer({{0}, {1}}, 1.0, kInside);
  flow.transfer({{0}, {1}}, 2.0, kInside);
  flow.transfer({{0}, {1}}, 1.5, Reach::between);
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 1.5) << "between nodes, alone";
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 2.0) << "half the rate";
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 3.0) << "1 second at half the rate, 1 alone";
}

TEST(Flow, MessagesInBothDirectionsDoNotMeet) {
  Flow flow(2, 0.0);
  flow.transfer({{0, true, false}, {1, false, true}}, 1.0, kInside);
  flow.transfer({{1, true, false}, {0, false, true}}, 1.0, kInside);
  flow.next();
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 1.0);
}

TEST(Flow, TransfersTakeUnitsFromCompute) {
  Flow flow(1, 0.25);
  const int64_t work = flow.compute(0, 1.8, 0, kInside);
  flow.transfer({{0}}, 1.0, kInside);
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 1.0) << "the transfer has its units for itself";
  EXPECT_EQ(flow.next(), work);
  EXPECT_DOUBLE_EQ(flow.now(), 2.0) << "1 second at 1/1.25";
}

TEST(Flow, WhereBothNeedAllUnitsOverlapGainsNothing) {
  Flow flow(1, 1.0);
  flow.compute(0, 1.0, 0, kInside);
  flow.transfer({{0}}, 1.0, kInside);
  flow.next();
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 2.0);
}

TEST(Flow, TalkInsideComputeSharesTheLink) {
  Flow flow(1, 0.0);
  flow.compute(0, 1.0, 0.5, kInside);
  flow.transfer({{0}}, 3.0, kInside);
  flow.next();
  EXPECT_DOUBLE_EQ(flow.now(), 1.25) << "half of it meets a load of 1.5";
  flow.next();
  EXPECT_NEAR(flow.now(), 1.25 + 3.0 - 1.25 / 1.5, 1e-12);
}

}  // namespace
}  // namespace trireme
