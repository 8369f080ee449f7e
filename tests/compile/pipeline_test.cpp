// From config to schedule: every name of the catalog, files, and what is refused with which words.
#include "compile/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "compile/timeline_text.h"
#include "schedule/catalog.h"
#include "schedule/check.h"

namespace trireme {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::string>;

RunSpec with(const Keys& keys) {
  return parse_config(
      "[model]\nfamily = \"gpt2\"\nlayers = 2\nwidth = 64\nheads = 4\nvocab = 257\ncontext = 32\n"
      "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 8\n[optimizer]\nlr = 1e-3\n"
      "[run]\nname = \"a run\"\nsteps = 10\n",
      "a.toml", keys);
}

std::string error(const Keys& keys) {
  try {
    make_pipeline(with(keys));
  } catch (const UserError& failure) {
    return failure.what();
  }
  return "no error";
}

const std::string kGoldens = TRIREME_SOURCE_DIR "/tests/golden/schedule/";

// The config's own list of names, and the defaults that it derives from them, are the catalog's.
TEST(Pipeline, ConfigAndCatalogAgree) {
  const auto names = names_of_values(PipelineSchedule{});
  ASSERT_EQ(names.size(), schedules().size());
  for (size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const ScheduleDef& def = schedules()[i];
    EXPECT_EQ(names[i], def.name);
    const RunSpec spec = with({"parallel.pp=4", fmt::format("parallel.schedule={}", def.name)});
    EXPECT_EQ(spec.parallel.virtual_stages, def.least_stages_per_rank);
    const Schedule schedule = make_pipeline(spec);
    EXPECT_EQ(schedule, make_schedule(def.name, {4, def.least_stages_per_rank, 8}));
    EXPECT_EQ(find_sum_fault(schedule, static_cast<int32_t>(spec.batch.lanes)), "");
  }
}

TEST(Pipeline, OneRankAccumulates) {
  const Schedule schedule = make_pipeline(with({"batch.sequences=3"}));
  EXPECT_EQ(to_text(schedule.table), "0F0 0B0 0F1 0B1 0F2 0B2\n");
  EXPECT_EQ(schedule.placement.ranks, 1);
  EXPECT_EQ(schedule.micro_batches, 3);
  EXPECT_EQ(find_fault(schedule, ScheduleUse::training), "");
}

// Micro-batches are those of one data-parallel rank.
TEST(Pipeline, MicroBatchesArePerDataParallelRank) {
  EXPECT_EQ(make_pipeline(with({"parallel.pp=2", "parallel.dp_shard=4"})).micro_batches, 2);
}

TEST(Pipeline, Refused) {
  const auto error_of = [](Keys more, const char* schedule) {
    more.push_back(fmt::format("parallel.schedule={}", schedule));
    return error(more);
  };
  EXPECT_EQ(error_of({"parallel.pp=3"}, "dualpipe"),
            "parallel.pp = 3 does not suit parallel.schedule = \"dualpipe\", which needs a multiple of 2; "
            "the least "
            "that works is 4");
  EXPECT_EQ(error_of({"parallel.pp=8"}, "dualpipe"),
            "parallel.schedule = \"dualpipe\" cannot run 8 micro-batches per step: it needs at least 16 for "
            "parallel.pp = 8; the least that works is 16, so raise batch.sequences or lower batch.micro");
  EXPECT_EQ(
      error_of({"parallel.pp=2", "batch.sequences=7"}, "dualpipe"),
      "parallel.schedule = \"dualpipe\" cannot run 7 micro-batches per step: it needs a multiple of 2; the "
      "least that works is 8, so raise batch.sequences or lower batch.micro");
  EXPECT_EQ(error_of({"parallel.pp=2", "parallel.virtual_stages=2"}, "1f1b"),
            "parallel.virtual_stages = 2 does not suit parallel.schedule = \"1f1b\", which needs 1");
  EXPECT_EQ(
      error_of({"parallel.pp=2", "parallel.virtual_stages=1"}, "interleaved"),
      "parallel.virtual_stages = 1 does not suit parallel.schedule = \"interleaved\", which needs 2 or more");
  EXPECT_EQ(error_of({"parallel.pp=2", "parallel.dp_shard=2", "batch.lanes=2"}, "dualpipe"),
            "batch.lanes = 2 does not suit parallel.schedule = \"dualpipe\", whose 2 copies of a stage each "
            "sum a part "
            "of the micro-batches: it must be a multiple of 2 x the 2 data-parallel ranks; use 4");
}

Keys with_file(const std::string& file, Keys keys = {}) {
  keys.insert(keys.end(), {"parallel.pp=4", "parallel.schedule_file=" + kGoldens + file});
  return keys;
}

TEST(Pipeline, FromFiles) {
  EXPECT_EQ(make_pipeline(with(with_file("1f1b.txt"))), make_schedule("1f1b", {4, 1, 8}));
  EXPECT_EQ(make_pipeline(with(with_file("torch_zbv.csv"))), make_schedule("zbv", {4, 2, 8}));
  EXPECT_EQ(make_pipeline(with(with_file("dualpipe.txt", {"batch.lanes=2"}))),
            make_schedule("dualpipe", {4, 1, 8}));
}

TEST(Pipeline, FilesAreRefused) {
  const std::string name = "parallel.schedule_file = \"" + kGoldens;
  EXPECT_EQ(error(with_file("1f1b.txt", {"batch.sequences=16"})),
            name +
                "1f1b.txt\" is for 8 micro-batches per step but the run has 16; change the file, "
                "batch.sequences or batch.micro");
  EXPECT_EQ(
      error(with_file("interleaved.txt", {"parallel.virtual_stages=1"})),
      name +
          "interleaved.txt\" has 8 stages but parallel.pp = 4 x parallel.virtual_stages = 1 are 4; make "
          "them equal");
  EXPECT_EQ(
      error(with_file("dualpipe.txt")),
      "batch.lanes = 1 does not suit " + name +
          "dualpipe.txt\", whose 2 copies of a stage each sum a part of the micro-batches: it must be a "
          "multiple of 2 x the 1 data-parallel ranks; use 2");
  EXPECT_EQ(
      error(with_file("torch_looped_bfs.csv")),
      name +
          "torch_looped_bfs.csv\" sums gradients in another order than one rank would with batch.lanes = 1: "
          "rank 0 step 17 (4B6): adds to the gradient after micro-batch 7; let each stage go back through "
          "the micro-batches of a lane from the first to the last");
  EXPECT_EQ(error(with_file("torch_looped_bfs.csv", {"batch.lanes=8"})), "no error");
  const RunSpec gone = with(with_file("none.txt"));
  EXPECT_THROW(make_pipeline(gone), EnvError);
}

TEST(Pipeline, IsDrawnUnderATitle) {
  EXPECT_EQ(pipeline_text(make_pipeline(with({}))), "");
  EXPECT_EQ(pipeline_text(make_pipeline(with({"parallel.pp=2", "batch.sequences=2"}))),
            "pipeline: 2 ranks, 2 stages, 2 micro-batches; a forward is drawn as 1 unit, a backward as 2\n"
            "time      0              5\n"
            "rank 0    F0 F1 .  .  B0--- .  B1---\n"
            "rank 1    .  F0 B0--- F1 B1--- .  .\n"
            "9 units; by rank, waits: 3 3; stores at most: 2 1\n\n");
}

TEST(Pipeline, LargeOnesAreProvenQuickly) {
  const RunSpec spec = with({"parallel.pp=16", "parallel.schedule=interleaved", "parallel.virtual_stages=6",
                             "batch.sequences=128"});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(make_pipeline(spec).placement.stages(), 96);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0.3);
}

}  // namespace
}  // namespace trireme
