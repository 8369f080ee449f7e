// Each schedule at 4 ranks and 8 micro-batches against its golden, and against PyTorch's own tables
// (tests/golden/schedule/make_torch_schedules.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "schedule/catalog.h"
#include "schedule/check.h"
#include "schedule/draw.h"
#include "schedule/read.h"

namespace trireme {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(TRIREME_SOURCE_DIR "/tests/golden/schedule/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Schedule at_four_ranks(const ScheduleDef& def) {
  return def.make({.ranks = 4, .stages_per_rank = def.least_stages_per_rank, .micro_batches = 8});
}

TEST(ScheduleGolden, EveryScheduleAtFourRanks) {
  for (const ScheduleDef& def : schedules())
    EXPECT_EQ(to_text(at_four_ranks(def).table), golden(std::string(def.name) + ".txt")) << def.name;
}

TEST(ScheduleGolden, EveryScheduleDrawn) {
  for (const ScheduleDef& def : schedules())
    EXPECT_EQ(draw(at_four_ranks(def)), golden(std::string(def.name) + ".drawn.txt")) << def.name;
}

// What does not fit goes on below, and what is too long is cut with a note.
TEST(ScheduleGolden, DrawingsHaveLimits) {
  const Schedule schedule = make_schedule("gpipe", {.ranks = 2, .stages_per_rank = 1, .micro_batches = 12});
  EXPECT_EQ(draw(schedule, {.columns = 30, .bands = 2}),
            "time      0\n"
            "rank 0    F0  F1  F2  F3  F4\n"
            "rank 1    .   F0  F1  F2  F3\n"
            "\n"
            "time      5\n"
            "rank 0    F5  F6  F7  F8  F9\n"
            "rank 1    F4  F5  F6  F7  F8\n"
            "... cut at 10 of 39 units\n"
            "39 units; by rank, waits: 3 3; stores at most: 12 12\n");
  const std::string whole = draw(schedule);
  EXPECT_NE(whole.find(" B9----- B10---- B11----\n"), std::string::npos) << whole;
  for (const ScheduleDef& def : schedules()) {
    const std::string text = draw(at_four_ranks(def));
    for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_LE(end - at, 120u) << def.name;
  }
}

// The text form reads back to the same schedule, placement and all.
TEST(ScheduleGolden, TextReadsBack) {
  for (const ScheduleDef& def : schedules()) {
    const Schedule schedule = at_four_ranks(def);
    EXPECT_EQ(read_schedule(to_text(schedule.table), def.name), schedule) << def.name;
  }
}

TEST(ScheduleGolden, PyTorchHasTheSameTables) {
  for (const char* name : {"interleaved", "zb_h1", "interleaved_zb", "zbv", "dualpipev"}) {
    const std::string file = std::string("torch_") + name + ".csv";
    EXPECT_EQ(read_schedule(golden(file), file), at_four_ranks(*find_schedule(name))) << name;
  }
}

// PyTorch runs the backwards of breadth-first from the last micro-batch to the first: a sound schedule whose
// gradient sums are in another order than those of one rank.
TEST(ScheduleGolden, PyTorchBreadthFirstIsOursTurnedRound) {
  const Schedule torch = read_schedule(golden("torch_looped_bfs.csv"), "torch_looped_bfs.csv");
  EXPECT_EQ(find_sum_fault(torch, 1), "rank 0 step 17 (4B6): adds to the gradient after micro-batch 7");
  EXPECT_EQ(find_sum_fault(torch, 8), "");
  Schedule turned = torch;
  for (auto& row : turned.table)
    for (ScheduleStep& step : row)
      if (step.kind == StepKind::backward) step.micro_batch = 7 - step.micro_batch;
  EXPECT_EQ(turned, at_four_ranks(*find_schedule("looped_bfs")));
}

// A rank of DualPipe does what the same rank of DualPipeV does with half the ranks and half the
// micro-batches.
TEST(ScheduleGolden, DualPipeIsTwiceDualPipeV) {
  const ScheduleTable v = read_schedule(golden("torch_dualpipev.csv"), "torch_dualpipev.csv").table;
  const ScheduleTable both = make_schedule("dualpipe", {.ranks = 8, .micro_batches = 16}).table;
  ASSERT_EQ(both.size(), 8u);
  for (size_t rank = 0; rank < 8; ++rank) {
    std::vector<ScheduleStep> row = both[rank];
    for (ScheduleStep& step : row) step.micro_batch %= 8;
    EXPECT_EQ(row, v[std::min(rank, 7 - rank)]) << rank;
  }
}

}  // namespace
}  // namespace trireme
