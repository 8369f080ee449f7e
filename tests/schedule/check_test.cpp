// The checker and the simulator on tables worked out by hand, and on sound ones that were spoilt.
#include "schedule/check.h"

#include <gtest/gtest.h>

#include "schedule/catalog.h"
#include "schedule/placement.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

constexpr auto F = StepKind::forward, B = StepKind::backward, I = StepKind::backward_input,
               W = StepKind::backward_weight;

Schedule on_two_ranks(ScheduleTable table, int32_t micro_batches) {
  return {std::move(table), loop_placement(2, 1), micro_batches, false};
}

std::string fault(ScheduleTable table, int32_t micro_batches) {
  return find_fault(on_two_ranks(std::move(table), micro_batches), ScheduleUse::training);
}

TEST(ScheduleCheck, Placements) {
  EXPECT_EQ(loop_placement(2, 2).rank_of_stage, (std::vector<std::vector<int32_t>>{{0, 1, 0, 1}}));
  EXPECT_EQ(v_placement(2).rank_of_stage, (std::vector<std::vector<int32_t>>{{0, 1, 1, 0}}));
  EXPECT_EQ(two_way_placement(2).rank_of_stage, (std::vector<std::vector<int32_t>>{{0, 1}, {1, 0}}));
}

TEST(ScheduleCheck, FindsTheRingOfADeadlock) {
  EXPECT_EQ(
      fault({{{0, F, 0}, {0, B, 0}, {0, F, 1}, {0, B, 1}}, {{1, F, 1}, {1, B, 1}, {1, F, 0}, {1, B, 0}}}, 2),
      "deadlock: rank 0 at step 1 (0B0) waits for 1B0 on rank 1; rank 1 at step 0 (1F1) waits for 0F1 on "
      "rank 0");
  EXPECT_EQ(
      fault({{{0, F, 0}, {0, F, 1}, {0, B, 0}, {0, B, 1}}, {{1, F, 1}, {1, B, 1}, {1, F, 0}, {1, B, 0}}}, 2),
      "");
}

TEST(ScheduleCheck, APairStartsOnlyWhenBothCan) {
  const std::vector<ScheduleStep> down = {{1, F, 0}, {1, B, 0}, {1, F, 1}, {1, B, 1}};
  EXPECT_EQ(fault({{{0, F, 0}, {0, F, 1, true}, {0, B, 0}, {0, B, 1}}, down}, 2), "");
  EXPECT_EQ(fault({{{0, F, 0}, {0, F, 1, true}, {0, B, 0}, {0, B, 1}},
                   {{1, F, 0}, {1, F, 1}, {1, B, 0}, {1, B, 1}}},
                  2),
            "deadlock: rank 0 at step 1 (0F1) waits for 1B0 on rank 1; rank 1 at step 1 (1F1) waits for 0F1 "
            "on rank 0");
  EXPECT_EQ(fault({{{0, F, 0}, {0, F, 1}, {0, B, 0}, {0, B, 1, true}}, down}, 2),
            "rank 0 step 3 (0B1): runs at once with a step that is not there");
  EXPECT_EQ(fault({{{0, F, 0, true}, {0, F, 1}, {0, B, 0}, {0, B, 1}}, down}, 2),
            "rank 0 step 0 (0F0): only a forward and a backward of another micro-batch run at once, not 0F0 "
            "and 0F1");
  EXPECT_EQ(fault({{{0, F, 0}, {0, B, 0}, {0, F, 1}, {0, B, 1}},
                   {{1, F, 0, true}, {1, B, 0}, {1, F, 1}, {1, B, 1}}},
                  2),
            "rank 1 step 0 (1F0): only a forward and a backward of another micro-batch run at once, not 1F0 "
            "and 1B0");
}

TEST(ScheduleCheck, FindsStrays) {
  EXPECT_EQ(fault({{{0, F, 0}, {0, B, 0}, {1, F, 0}, {1, B, 0}}, {}}, 1),
            "rank 0 step 2 (1F0): stage 1 of that micro-batch is on rank 1");
  EXPECT_EQ(fault({{{0, F, 0}, {0, B, 1}}, {}}, 1),
            "rank 0 step 1 (0B1): there are 2 stages and 1 micro-batches");
  EXPECT_EQ(fault({{{0, F, 0}, {0, B, 0}}}, 1), "the table has 1 ranks, the placement 2");
}

// Whatever single step is taken out of a sound schedule, or swapped with the next of the same stage and
// micro-batch, is missed.
TEST(ScheduleCheck, MissesNoMissingStep) {
  for (const ScheduleDef& def : schedules()) {
    const Schedule sound = def.make({4, def.least_stages_per_rank, 8});
    for (size_t rank = 0; rank < 4; ++rank)
      for (size_t i = 0; i < sound.table[rank].size(); ++i) {
        Schedule spoilt = sound;
        spoilt.table[rank].erase(spoilt.table[rank].begin() + static_cast<std::ptrdiff_t>(i));
        ASSERT_NE(find_fault(spoilt, ScheduleUse::training), "") << def.name << rank << " " << i;
        spoilt = sound;
        spoilt.table[rank].push_back(sound.table[rank][i]);
        ASSERT_NE(find_fault(spoilt, ScheduleUse::training), "") << def.name << rank << " " << i;
      }
  }
}

TEST(ScheduleCheck, OrderOfSums) {
  const Schedule turned{
      {{{0, F, 0}, {0, F, 1}, {0, I, 1}, {0, I, 0}, {0, W, 1}, {0, W, 0}}}, loop_placement(1, 1), 2, true};
  EXPECT_EQ(find_fault(turned, ScheduleUse::training), "");
  EXPECT_EQ(find_sum_fault(turned, 1), "rank 0 step 3 (0I0): adds to the gradient after micro-batch 1");
  EXPECT_EQ(find_sum_fault(turned, 2), "");
  const Schedule both = make_schedule("dualpipe", {2, 1, 8});
  EXPECT_EQ(find_sum_fault(both, 2), "");
  EXPECT_EQ(find_sum_fault(both, 4), "");
  EXPECT_EQ(find_sum_fault(both, 1),
            "a lane would be summed in 2 copies of a stage; batch.lanes must be a multiple of 2 x the "
            "data-parallel "
            "degree, not of 1 x");
}

TEST(ScheduleCheck, DualPipeGivesEachDirectionHalf) {
  const Schedule both = make_schedule("dualpipe", {4, 1, 8});
  EXPECT_EQ(direction_of(both, 3), 0);
  EXPECT_EQ(direction_of(both, 4), 1);
  EXPECT_EQ(rank_of(both, 1, 3), 1);
  EXPECT_EQ(rank_of(both, 1, 4), 2);
}

TEST(ScheduleSimulate, TimesByHand) {
  const Schedule schedule = on_two_ranks(
      {{{0, F, 0}, {0, F, 1}, {0, B, 0}, {0, B, 1}}, {{1, F, 0}, {1, I, 0}, {1, W, 0}, {1, F, 1}, {1, B, 1}}},
      2);
  const Simulation run = simulate(schedule, {.forward = 2, .input = 3, .weight = 1, .pair = {}});
  EXPECT_EQ(run.starts, (std::vector<std::vector<int64_t>>{{0, 2, 7, 14}, {2, 4, 7, 8, 10}}));
  EXPECT_EQ(run.length, 18);
  EXPECT_EQ(run.bubble(0), 18 - 12);
  EXPECT_EQ(run.bubble(1), 18 - 12);
  EXPECT_EQ(run.ranks[1].first, 2);
  EXPECT_EQ(run.ranks[1].last, 14);
  EXPECT_EQ(run.ranks[0].most_stored, 2);
  EXPECT_EQ(run.ranks[1].most_stored, 1);
}

TEST(ScheduleSimulate, APairHasItsOwnCost) {
  const Schedule schedule = on_two_ranks(
      {{{0, F, 0}, {0, F, 1, true}, {0, B, 0}, {0, B, 1}}, {{1, F, 0}, {1, B, 0}, {1, F, 1}, {1, B, 1}}}, 2);
  StepCosts costs{.forward = 2, .input = 3, .weight = 1, .pair = 5};
  EXPECT_EQ(simulate(schedule, costs).starts,
            (std::vector<std::vector<int64_t>>{{0, 8, 8, 19}, {2, 4, 13, 15}}));
  costs.pair.reset();
  EXPECT_EQ(simulate(schedule, costs).length, 24);
}

}  // namespace
}  // namespace trireme
