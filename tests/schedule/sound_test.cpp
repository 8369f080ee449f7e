// Over a range of ranks, stages and micro-batches every schedule is refused, with a cure that is the least,
// or sound.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "schedule/catalog.h"
#include "schedule/check.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

void for_inputs(const std::function<void(const ScheduleInput&)>& visit) {
  for (int32_t ranks = 1; ranks <= 8; ++ranks)
    for (int32_t stages = 1; stages <= 3; ++stages)
      for (const int32_t micro_batches : {1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 15, 16, 17, 18, 24, 31, 32})
        visit({ranks, stages, micro_batches});
}

std::string show(const ScheduleDef& def, const ScheduleInput& input) {
  return fmt::format("{} ranks {} stages per rank {} micro-batches {}", def.name, input.ranks,
                     input.stages_per_rank, input.micro_batches);
}

TEST(ScheduleSound, RunsOrIsRefused) {
  for (const ScheduleDef& def : schedules()) {
    int ran = 0;
    for_inputs([&](const ScheduleInput& input) {
      if (refuse(def, input)) return;
      ++ran;
      const Schedule schedule = def.make(input);
      EXPECT_EQ(schedule.placement.stages(),
                input.ranks * (schedule.placement.directions() == 2 ? 1 : input.stages_per_rank));
      ASSERT_EQ(find_fault(schedule, ScheduleUse::training), "") << show(def, input);
      ASSERT_EQ(find_sum_fault(schedule, schedule.placement.directions()), "") << show(def, input);
      const bool parts = std::ranges::any_of(
          schedule.table[0], [](const ScheduleStep& step) { return step.kind == StepKind::backward_input; });
      EXPECT_EQ(schedule.split_backward, parts) << show(def, input);
    });
    EXPECT_GT(ran, 10) << def.name;
  }
}

// The cure changes one field, is free of the rule that was broken, and no smaller step would do.
TEST(ScheduleSound, RefusalNamesTheLeastThatWorks) {
  for (const ScheduleDef& def : schedules())
    for_inputs([&](const ScheduleInput& input) {
      const auto refusal = refuse(def, input);
      if (!refusal) return;
      EXPECT_NE(refusal->why.find(def.name), std::string::npos);
      int changed = 0;
      for (const auto field :
           {&ScheduleInput::ranks, &ScheduleInput::stages_per_rank, &ScheduleInput::micro_batches}) {
        if (input.*field == refusal->works.*field) continue;
        ++changed;
        ScheduleInput probe = input;
        const int32_t step = input.*field < refusal->works.*field ? 1 : -1;
        for (; probe.*field != refusal->works.*field; probe.*field += step)
          EXPECT_EQ(refuse(def, probe)->works.*field, refusal->works.*field) << show(def, probe);
        const auto next = refuse(def, probe);
        if (next) {  // another rule, if any
          EXPECT_EQ(next->works.*field, probe.*field) << show(def, probe);
        }
      }
      EXPECT_EQ(changed, 1) << show(def, input);
      ScheduleInput cured = input;  // following the advice ends
      for (int i = 0; i < 3; ++i)
        if (const auto again = refuse(def, cured)) cured = again->works;
      EXPECT_FALSE(refuse(def, cured)) << show(def, cured);
    });
}

std::string message(std::string_view name, const ScheduleInput& input) {
  try {
    make_schedule(name, input);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ScheduleSound, Messages) {
  EXPECT_EQ(message("dualpipe", {4, 1, 6}),
            "parallel.schedule = \"dualpipe\" cannot run 6 micro-batches per step: it needs at least 8 for "
            "parallel.pp = "
            "4; the least that works is 8, so raise batch.sequences or lower batch.micro");
  EXPECT_EQ(message("dualpipe", {4, 1, 9}),
            "parallel.schedule = \"dualpipe\" cannot run 9 micro-batches per step: it needs a multiple of 2; "
            "the least "
            "that works is 10, so raise batch.sequences or lower batch.micro");
  EXPECT_EQ(message("dualpipe", {3, 1, 8}),
            "parallel.pp = 3 does not suit parallel.schedule = \"dualpipe\", which needs a multiple of 2; "
            "the least "
            "that works is 4");
  EXPECT_EQ(
      message("interleaved", {4, 1, 8}),
      "parallel.virtual_stages = 1 does not suit parallel.schedule = \"interleaved\", which needs 2 or more");
  EXPECT_EQ(message("zbv", {4, 3, 8}),
            "parallel.virtual_stages = 3 does not suit parallel.schedule = \"zbv\", which needs 2");
  EXPECT_EQ(message("dualpip", {4, 1, 8}).substr(0, 80),
            "parallel.schedule = \"dualpip\" is not known; do you mean \"dualpipe\"? there are gp");
  EXPECT_EQ(message("zb_h1", {4, 1, 8}), "");
}

// Evaluation on the placement of any schedule: each rank has all its stages, and with enough micro-batches it
// waits only while the pipeline fills and drains.
TEST(ScheduleSound, Evaluation) {
  for (const ScheduleDef& def : schedules())
    for (const int32_t ranks : {1, 2, 3, 4, 8})
      for (const int32_t micro_batches : {0, 1, 2, 3, 5, 8, 16, 19}) {
        const int32_t stages = std::min(3, def.most_stages_per_rank);
        if (ranks % def.ranks_multiple != 0) continue;
        const StagePlacement placement = def.make({ranks, stages, 16}).placement;
        const Schedule schedule = forwards(placement, micro_batches);
        ASSERT_EQ(schedule.placement, placement);
        ASSERT_EQ(find_fault(schedule, ScheduleUse::evaluation), "")
            << def.name << ranks << " " << micro_batches;
        if (micro_batches % ranks != 0 || placement.directions() > 1 || micro_batches == 0) continue;
        const bool v = def.most_stages_per_rank == 2;
        const Simulation run = simulate(schedule, {});
        EXPECT_LE(run.length, micro_batches * stages + (v ? placement.stages() : ranks) - 1)
            << def.name << ranks << " " << micro_batches;
      }
}

TEST(ScheduleSound, EvaluationTakesTheDeepestStage) {
  const StagePlacement placement = make_schedule("interleaved", {2, 2, 4}).placement;
  EXPECT_EQ(to_text(forwards(placement, 4).table),
            "0F0 0F1 2F0 2F1 0F2 0F3 2F2 2F3\n1F0 1F1 3F0 3F1 1F2 1F3 3F2 3F3\n");
  EXPECT_EQ(to_text(forwards(StagePlacement{1, {{0}}}, 3).table), "0F0 0F1 0F2\n");
}

}  // namespace
}  // namespace trireme
