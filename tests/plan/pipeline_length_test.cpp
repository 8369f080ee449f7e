// Prolonged schedules against whole ones.
#include "plan/pipeline_length.h"

#include <gtest/gtest.h>

#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

TEST(PipelineLength, OfALongStepIsThatOfTheWholeSchedule) {
  for (const ScheduleDef& def : schedules()) {
    const PipelineShape shape{.schedule = static_cast<PipelineSchedule>(&def - schedules().data()),
                              .ranks = 4,
                              .stages_per_rank = def.least_stages_per_rank,
                              .micro_batches = 64};
    const auto length = pipeline_length(shape, {.forward_s = 1, .input_s = 1, .weight_s = 1});
    ASSERT_TRUE(length) << def.name;
    const Simulation whole =
        simulate(def.make({.ranks = 4, .stages_per_rank = def.least_stages_per_rank, .micro_batches = 64}),
                 {.forward = 1000, .input = 1000, .weight = 1000});
    EXPECT_NEAR(length->length_s, static_cast<double>(whole.length) / 1000, 1e-6) << def.name;
    for (size_t r = 0; r < 4; ++r)
      EXPECT_DOUBLE_EQ(length->stored[r], whole.ranks[r].most_stored) << def.name << " rank " << r;
  }
}

TEST(PipelineLength, CountsWhatIsHeldBetweenTheParts) {
  const PipelineShape shape{
      .schedule = PipelineSchedule::zb_h1, .ranks = 4, .stages_per_rank = 1, .micro_batches = 8};
  const StageCosts costs{.forward_s = 1, .input_s = 1, .weight_s = 1};
  StageCosts holding = costs;
  holding.held = 0.5;
  const auto without = pipeline_length(shape, costs), with = pipeline_length(shape, holding);
  EXPECT_TRUE(with->split);
  EXPECT_DOUBLE_EQ(with->length_s, without->length_s);
  EXPECT_GT(with->stored[3], without->stored[3]);
  EXPECT_LE(with->stored[3], 1.5 * without->stored[3]);
}

TEST(PipelineLength, IsRefusedWhereTheScheduleIs) {
  EXPECT_FALSE(
      pipeline_length({.schedule = PipelineSchedule::dualpipe, .ranks = 3, .micro_batches = 8}, {1, 1, 1}));
}

}  // namespace
}  // namespace trireme
