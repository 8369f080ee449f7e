// The schedules of one stage, and every fault that find_fault knows.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "schedule/placement.h"

#include <initializer_list>

namespace trireme {
namespace {

TEST(Schedule, AccumulateGoesBackAtOnce) {
  EXPECT_EQ(to_text(accumulate(3)), "0F0 0B0 0F1 0B1 0F2 0B2\n");
  EXPECT_EQ(to_text(accumulate(0)), "\n");
  for (const int32_t n : {0, 1, 7}) EXPECT_EQ(find_fault(accumulate(n), 1, n, true), "");
}

TEST(Schedule, ForwardsOnly) {
  const ScheduleTable evaluation = forwards(loop_placement(1, 1), 2).table;
  EXPECT_EQ(to_text(evaluation), "0F0 0F1\n");
  EXPECT_EQ(find_fault(evaluation, 1, 2, false), "");
  EXPECT_EQ(find_fault(evaluation, 1, 2, true), "stage 0 micro-batch 0 is not finished");
}

constexpr auto F = StepKind::forward, B = StepKind::backward, I = StepKind::backward_input,
               W = StepKind::backward_weight;

std::string fault(std::initializer_list<ScheduleStep> steps, bool training = true) {
  return find_fault({std::vector<ScheduleStep>(steps)}, 2, 1, training);
}

TEST(Schedule, TextNamesBothPartsOfBackward) {
  EXPECT_EQ(to_text({{{0, F, 0}, {0, I, 0}}, {{1, B, 2}, {1, W, 11}}}), "0F0 0I0\n1B2 1W11\n");
}

TEST(Schedule, WholeOrSplitBackwardIsRight) {
  EXPECT_EQ(fault({{0, F, 0}, {1, F, 0}, {1, B, 0}, {0, I, 0}, {0, W, 0}}), "");
  EXPECT_EQ(find_fault({{{0, F, 0}, {0, B, 0}}, {{1, F, 0}, {1, B, 0}}}, 2, 1, true), "");
}

TEST(Schedule, FindsEveryFault) {
  EXPECT_EQ(fault({{2, F, 0}}), "stage 2 micro-batch 0 does not exist");
  EXPECT_EQ(fault({{-1, F, 0}}), "stage -1 micro-batch 0 does not exist");
  EXPECT_EQ(fault({{0, F, 1}}), "stage 0 micro-batch 1 does not exist");
  EXPECT_EQ(fault({{0, F, -1}}), "stage 0 micro-batch -1 does not exist");
  EXPECT_EQ(fault({{0, F, 0}, {0, F, 0}}), "stage 0 micro-batch 0 goes forward twice");
  EXPECT_EQ(fault({{0, B, 0}}), "stage 0 micro-batch 0 goes back before it went forward");
  EXPECT_EQ(fault({{0, F, 0}, {1, I, 0}}), "stage 1 micro-batch 0 goes back before it went forward");
  EXPECT_EQ(fault({{0, F, 0}, {0, B, 0}, {0, B, 0}}), "stage 0 micro-batch 0 goes back twice");
  EXPECT_EQ(fault({{0, F, 0}, {0, I, 0}, {0, B, 0}}), "stage 0 micro-batch 0 goes back twice");
  EXPECT_EQ(fault({{0, F, 0}, {0, B, 0}, {0, W, 0}}), "stage 0 micro-batch 0 goes back twice");
  EXPECT_EQ(fault({{0, F, 0}, {0, W, 0}}), "stage 0 micro-batch 0 has its weight part before its input part");
  EXPECT_EQ(fault({{0, F, 0}, {0, B, 0}}), "stage 1 micro-batch 0 is not finished");
  EXPECT_EQ(fault({{0, F, 0}, {0, I, 0}, {1, F, 0}, {1, B, 0}}), "stage 0 micro-batch 0 is not finished");
  EXPECT_EQ(fault({{0, F, 0}}, false), "stage 1 micro-batch 0 is not finished");
}

}  // namespace
}  // namespace trireme
