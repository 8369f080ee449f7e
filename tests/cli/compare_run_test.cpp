// `trireme compare-run` on what the real binary leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

using testing::HasSubstr;
using testing::Not;

Outcome compare(const TinyRun& tiny, const std::string& run, const std::string& cluster = "cpu") {
  return tiny.run({"compare-run", run, "--cluster", cluster});
}

TEST(CompareRun, PartByPartWithATrace) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.trace_steps", "[5]"},
                        {"parallel.dp_shard", "2"},
                        {"parallel.zero", "2"},
                        {"batch.micro", "1"}})
                .exit_code,
            0);
  const Outcome outcome = compare(tiny, "runs/tiny");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("runs/tiny: 12 of 12 steps, against cpu on 1 node\n"));
  EXPECT_THAT(outcome.out, HasSubstr("a step (median of 10)"));  // without the first one and the traced one
  EXPECT_THAT(outcome.out, HasSubstr("traced steps (1), means of all ranks"));
  EXPECT_THAT(outcome.out, HasSubstr("  backward  "));
  EXPECT_THAT(outcome.out, HasSubstr("  reduce_grad  "));
  EXPECT_THAT(outcome.out, HasSubstr("; most off: "));
  // What is allocated is what is planned, to the byte.
  const size_t line = outcome.out.find("  allocated ");
  EXPECT_THAT(outcome.out.substr(line, outcome.out.find('\n', line) - line), testing::EndsWith("equal"));
}

TEST(CompareRun, UnfinishedTornAndResumed) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.steps", "6"}}).exit_code, 0);
  ASSERT_EQ(tiny.train({{"run.steps", "9"}}, {"--resume", "auto"}).exit_code, 0);
  const std::string metrics = tiny.run_folder("tiny") + "/metrics.jsonl";
  test::spill(metrics, test::slurp(metrics) + "{\"step\":10,\"lo");
  const Outcome outcome = compare(tiny, "runs/tiny");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("9 of 9 steps"));
  EXPECT_THAT(outcome.out, HasSubstr("a step (median of 7)"));  // without steps 1 and 7
  EXPECT_THAT(outcome.err, HasSubstr("lines of runs/tiny/metrics.jsonl passed over, torn or foreign: 1\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("traced steps")));
  EXPECT_THAT(outcome.out, HasSubstr("compute on rank 0 took"));
}

TEST(CompareRun, ForMachines) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.steps", "6"}}).exit_code, 0);
  const std::string log = tiny.run_folder("tiny") + "/train.log";
  test::spill(log, "");  // where the arena's bytes were
  const Outcome outcome =
      tiny.run({"compare-run", "runs/tiny", "--cluster", "cpu", "--json", "--assume", "kernels.memory=0.5"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["cluster"]["hardware"], "cpu");
  EXPECT_EQ(json["cluster"]["assumed"].size(), 1U);
  const auto& step = json["groups"][0]["lines"][0];
  EXPECT_EQ(step["what"], "step");
  EXPECT_EQ(step["unit"], "s");
  const double difference_s = step["measured"].get<double>() - step["predicted"].get<double>();
  double off_s = 0;
  for (const auto& off : json["off"]) off_s += off["seconds"].get<double>();
  EXPECT_NEAR(off_s, difference_s, 1e-9);
  EXPECT_THAT(json["verdict"].get<std::string>(), HasSubstr("predicted"));
  EXPECT_EQ(json["groups"][1]["title"], "memory of rank 0");
  EXPECT_TRUE(json["groups"][1]["lines"][0]["measured"].is_null());
}

TEST(CompareRun, ATornTraceIsPassedOver) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.trace_steps", "[5]"}}).exit_code, 0);
  const std::string trace = tiny.run_folder("tiny") + "/traces/step-00000005.json";
  test::spill(trace, test::slurp(trace).substr(0, 100));
  const Outcome outcome = compare(tiny, "runs/tiny");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("step-00000005.json is passed over: it is no whole trace"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("traced steps")));
}

TEST(CompareRun, WhatIsNoRunIsRefused) {
  const TinyRun tiny;
  const auto refusal = [&](const std::string& run, const std::string& cluster = "cpu") {
    const Outcome outcome = compare(tiny, run, cluster);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refusal("runs/none"),
              HasSubstr("runs/none is no folder of a run: there is no config.toml in it"));
  EXPECT_THAT(refusal("shards"), HasSubstr("shards is no folder of a run"));
  ASSERT_EQ(tiny.train({{"run.steps", "3"}}).exit_code, 0);
  EXPECT_THAT(refusal("runs/tiny", "h100-sxm"), HasSubstr("the run was on a cpu and h100-sxm has gpus"));
  EXPECT_THAT(refusal("runs/tiny", "cpy"), HasSubstr("cpu"));
  test::spill(tiny.run_folder("tiny") + "/metrics.jsonl", "");
  EXPECT_THAT(refusal("runs/tiny"), HasSubstr("has no steps of a run"));
  std::filesystem::remove(tiny.run_folder("tiny") + "/metrics.jsonl");
  EXPECT_THAT(refusal("runs/tiny"), HasSubstr("there is no metrics.jsonl in it"));
  ASSERT_EQ(tiny.train({{"run.steps", "3"}, {"run.device", "null"}, {"run.name", "nothing"}}).exit_code, 0);
  EXPECT_THAT(refusal("runs/nothing"), HasSubstr("run.device = null computes nothing"));
}

}  // namespace
}  // namespace trireme
