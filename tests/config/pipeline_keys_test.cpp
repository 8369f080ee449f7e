// The keys of pipelines and traces: defaults, where they apply, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Keys = std::vector<std::string>;

TEST(PipelineKeys, Defaults) {
  const RunSpec one = with({});
  EXPECT_EQ(pipeline_ranks(one), 1);
  EXPECT_FALSE(one.parallel.virtual_stages);
  EXPECT_TRUE(one.run.trace_steps.empty());
  const RunSpec two = with({"parallel.pp=2", "parallel.dp_shard=2"});
  EXPECT_EQ(two.parallel.schedule, PipelineSchedule::one_forward_one_backward);
  EXPECT_EQ(two.parallel.virtual_stages, 1);
  EXPECT_TRUE(two.parallel.stages.empty());
  EXPECT_EQ(two.parallel.prefetch, 1);
  EXPECT_EQ(all_ranks(two), 4);
  EXPECT_EQ(data_parallel_ranks(two), 2);
  EXPECT_EQ(micro_batches_per_step(two), 4);
  EXPECT_EQ(two.batch.lanes, 2);
}

TEST(PipelineKeys, ListsAndOneNumber) {
  EXPECT_THAT(with({"parallel.pp=2", "parallel.stages=[2,0]"}).parallel.stages, ElementsAre(2, 0));
  EXPECT_THAT(with({"run.trace_steps=[3,5]"}).run.trace_steps, ElementsAre(3, 5));
  EXPECT_THAT(with({"run.trace_steps=3"}).run.trace_steps, ElementsAre(3));
  EXPECT_THAT(error_with({"run.trace_steps=[3,2.5]"}), HasSubstr("is not a list of whole numbers"));
  EXPECT_EQ(error_with({"run.trace_steps=[0]"}),
            "--set: run.trace_steps = [0] must be from 1 to 1000000000000");
  EXPECT_EQ(error_with({"parallel.pp=2", "parallel.stages=[3,-1]"}),
            "--set: parallel.stages = [3, -1] must be from 0 to 100000");
}

TEST(PipelineKeys, DualPipeSumsItsHalvesApart) {
  const auto lanes = [](Keys more) {
    more.push_back("parallel.pp=2");
    return with(more).batch.lanes;
  };
  EXPECT_EQ(lanes({"parallel.schedule=dualpipe"}), 2);
  EXPECT_EQ(lanes({"parallel.schedule=dualpipev"}), 1);
  EXPECT_EQ(lanes({"parallel.schedule=dualpipe", "parallel.dp_replicate=2"}), 4);
  EXPECT_EQ(lanes({"parallel.schedule=dualpipe", "batch.lanes=8"}), 8);
  // An odd number of micro-batches has no halves: the schedule itself says so.
  EXPECT_EQ(lanes({"parallel.schedule=dualpipe", "batch.sequences=7"}), 1);
  EXPECT_THAT(error_with({"parallel.pp=2", "parallel.schedule=dualpipe", "batch.lanes=16"}),
              HasSubstr("; use 2"));
}

TEST(PipelineKeys, ApplyToPipelinesOnly) {
  EXPECT_EQ(error_with({"parallel.schedule=gpipe"}),
            "--set: parallel.schedule = \"gpipe\" is only used with parallel.pp > 1 without "
            "parallel.schedule_file; remove it");
  for (const char* key : {"virtual_stages=2", "stages=[2]", "schedule_file=a.txt"})
    EXPECT_THAT(error_with({fmt::format("parallel.{}", key)}),
                HasSubstr("is only used with parallel.pp > 1; remove it"))
        << key;
  EXPECT_THAT(error_with({"parallel.pp=2", "parallel.schedule=gpipe", "parallel.schedule_file=a.txt"}),
              HasSubstr("parallel.schedule = \"gpipe\" is only used with"));
  EXPECT_EQ(error_with({"parallel.prefetch=2"}),
            "--set: parallel.prefetch = 2 is only used with parallel.zero = 1, 2 or 3; remove it");
  EXPECT_EQ(with({"parallel.dp_shard=2", "parallel.prefetch=2"}).parallel.prefetch, 2);
  EXPECT_THAT(error_with({"parallel.dp_shard=2", "parallel.prefetch=9"}), HasSubstr("must be from 1 to 8"));
}

TEST(PipelineKeys, Refused) {
  EXPECT_THAT(error_with({"parallel.pp=2", "parallel.schedule=dualpip"}),
              HasSubstr("zbv, dualpipe, dualpipev; did you mean dualpipe?"));
  EXPECT_THAT(error_with({"parallel.pp=2", "parallel.virtual_stages=0"}),
              HasSubstr("must be from 1 to 1024"));
  EXPECT_THAT(error_with({"parallel.pp=65536", "parallel.dp_shard=1024"}),
              HasSubstr("make more than 1048576 ranks"));
  EXPECT_EQ(error_with({"parallel.pp=2", "parallel.schedule_file=\"\""}),
            "--set: parallel.schedule_file = \"\" is empty; name a file or remove it");
}

// The numbers of a run do not depend on its pipeline.
TEST(PipelineKeys, AreLogistics) {
  const uint64_t hash = math_hash(with({}));
  for (const char* key :
       {"schedule=interleaved", "virtual_stages=3", "stages=[1,1]", "schedule_file=none.txt"})
    EXPECT_EQ(math_hash(with({"parallel.pp=2", fmt::format("parallel.{}", key), "run.trace_steps=[2]"})),
              hash)
        << key;
}

TEST(PipelineKeys, ReadBack) {
  for (const Keys& keys :
       {Keys{"parallel.pp=2"},
        Keys{"parallel.pp=2", "parallel.schedule=zbv", "parallel.stages=[1,0,1,0]", "run.trace_steps=[1,2]"},
        Keys{"parallel.pp=2", "parallel.schedule_file=none.txt"}}) {
    const RunSpec spec = with(keys);
    const RunSpec again = parse_config(to_toml(spec), "canonical");
    EXPECT_EQ(to_toml(again), to_toml(spec));
    EXPECT_TRUE(diff(spec, again).empty());
  }
}

// A file that is gone is no fault of the config: only training needs it.
TEST(PipelineKeys, ScheduleFileIsRead) {
  const std::string path = testing::TempDir() + "trireme_schedule.txt";
  std::ofstream(path) << "0F0 0B0\n1F0 1B0\n";
  const Keys keys = {"parallel.pp=2", "parallel.schedule_file=" + path};
  EXPECT_EQ(with(keys).schedule.text, "0F0 0B0\n1F0 1B0\n");
  EXPECT_EQ(with(keys).schedule.error, "");
  EXPECT_FALSE(with(keys).parallel.virtual_stages);
  std::filesystem::remove(path);
  EXPECT_EQ(with(keys).schedule.text, "");
  EXPECT_EQ(with(keys).schedule.error,
            "cannot open parallel.schedule_file " + path + ": No such file or directory");
  // These would be read without end, or block.
  for (const char* endless : {"/dev/zero", "/dev/null", "/"})
    EXPECT_THAT(with({"parallel.pp=2", std::string("parallel.schedule_file=") + endless}).schedule.error,
                HasSubstr("is no regular file"));
}

TEST(PipelineKeys, RanksInAll) {
  EXPECT_EQ(on_ranks(4, {"parallel.dp_shard=2", "parallel.zero=0"}).parallel.dp_replicate, 4);
  EXPECT_EQ(on_ranks(4, {}).parallel.dp_shard, 1);
  const RunSpec cut = on_ranks(8, {"parallel.pp=2", "parallel.zero=2", "parallel.dp_replicate=2"});
  EXPECT_EQ(cut.parallel.dp_shard, 4);
  EXPECT_EQ(cut.parallel.dp_replicate, 1);
  EXPECT_EQ(on_ranks(4, {"parallel.dp_shard=2"}).parallel.dp_shard, 4)
      << "zero is 1 where dp_shard is above 1";
  EXPECT_EQ(ranks_error(4, {"parallel.pp=3"}), "--ranks 4 is not a multiple of parallel.pp = 3; use 3 or 6");
  EXPECT_EQ(ranks_error(2, {"parallel.pp=3"}), "--ranks 2 is not a multiple of parallel.pp = 3; use 3");
  EXPECT_THAT(ranks_error(2, {"parallel.pp=0"}), HasSubstr("parallel.pp = 0 must be from 1"));
}

// What holds is the number of ranks of this start, not the config's own.
TEST(PipelineKeys, RanksStandBeforeEverythingThatDependsOnThem) {
  const Keys three = {"batch.sequences=12", "batch.lanes=6"};
  EXPECT_THAT(error_with(three), HasSubstr("must be 1 data-parallel ranks times a power of two"));
  EXPECT_EQ(on_ranks(3, three).batch.lanes, 6);
  EXPECT_EQ(on_ranks(2, {"parallel.dp_replicate=3"}).parallel.dp_replicate, 2);
  EXPECT_THAT(ranks_error(2, {"batch.lanes=3"}), HasSubstr("must be 2 data-parallel ranks times"));
}

}  // namespace
}  // namespace trireme::test
