// `trireme simulate` through the real binary: nothing of the run needs to be there but its config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kConfig = R"([model]
family = "llama"
layers = 8
width = 1024
heads = 16
vocab = 4096
context = 512
[data]
train = ["not-there.bin"]
seq_len = 512
[batch]
micro = 1
sequences = 64
[parallel]
tp = 2
pp = 4
dp_shard = 8
[optimizer]
lr = 1e-3
[run]
name = "planned"
steps = 2000
)";

class Simulate : public testing::Test {
 protected:
  Simulate() { test::spill(folder_ / "planned.toml", kConfig); }
  Outcome run(const Arguments& more) const {
    Arguments arguments = {"simulate", "planned.toml", "--cluster", "h100-sxm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_trireme(arguments, folder_.path());
  }
  test::ScratchFolder folder_;
};

TEST_F(Simulate, AStepItsDrawingAndItsTable) {
  const Outcome outcome = run({"--width", "60"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("64 ranks on 8 nodes of h100-sxm, 8 per node\nstep "));
  EXPECT_THAT(outcome.out, HasSubstr("rank 48 "));
  EXPECT_THAT(outcome.out, HasSubstr("F- forward  B= backward"));
  EXPECT_THAT(outcome.out, HasSubstr("in flight    activations\n     0       16 "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b[")));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("rank ") && !line.starts_with("rank of")) {
      EXPECT_EQ(line.size(), 60u) << line;
    }
  EXPECT_THAT(run({"--color", "always"}).out, HasSubstr("\x1b[34mF"));
}

TEST_F(Simulate, ATraceWithAProcessPerRankThatDiffers) {
  const Outcome outcome = run({"--trace", "out/step.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(test::slurp(folder_ / "out/step.json"));
  std::vector<std::string> names;
  for (const auto& event : json["traceEvents"])
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"rank 0, stands for 16", "rank 16, stands for 16",
                                             "rank 32, stands for 16", "rank 48, stands for 16"}));
}

// Of a rank, by row and name: how often, and the bytes of all together (-1 each where none are said). What an
// op sends in pieces beside its compute is one event of a prediction, so on the axes' rows the bytes alone
// count.
using Happened = std::map<std::pair<std::string, std::string>, std::pair<int, int64_t>>;
std::map<int, Happened> events_by_rank(const std::string& file) {
  std::map<std::pair<int, int>, std::string> rows;
  std::map<int, Happened> ranks;
  const auto json = nlohmann::json::parse(test::slurp(file));
  for (const auto& event : json["traceEvents"]) {
    const int rank = event["pid"];
    if (event["name"] == "thread_name") rows[{rank, event["tid"]}] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    const std::string row = rows.at({rank, event["tid"]});
    auto& [times, bytes] = ranks[rank][{row, event["name"]}];
    times += row.starts_with("axis ") ? 0 : 1;
    bytes += event.contains("args") ? event["args"]["bytes"].get<int64_t>() : -1;
  }
  return ranks;
}

TEST(SimulatedAndMeasured, TracesHaveTheSameEvents) {
  const TinyRun tiny;
  for (const Settings& settings :
       {Settings{{"parallel.tp", "2"}, {"parallel.pp", "2"}},
        Settings{{"parallel.dp_shard", "2"}, {"parallel.zero", "3"}, {"parallel.cp", "2"}}}) {
    const Settings run =
        overlaid({{"run.trace_steps", "[2]"}, {"run.steps", "3"}, {"batch.micro", "1"}, {"run.threads", "2"}},
                 settings);
    ASSERT_EQ(tiny.train(run).exit_code, 0);
    const Outcome outcome =
        tiny.run({"simulate", "runs/tiny/config.toml", "--cluster", "cpu", "--trace", "predicted.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    auto measured = events_by_rank(tiny.run_folder("tiny") + "/traces/step-00000002.json");
    const auto predicted = events_by_rank(tiny / "predicted.json");
    ASSERT_FALSE(predicted.empty());
    for (const auto& [rank, events] : predicted) EXPECT_EQ(events, measured[rank]) << "rank " << rank;
    std::filesystem::remove_all(tiny.run_folder("tiny"));
  }
}

// The percentages behind a cause.
double cost_of(const std::string& out, const std::string& cause) {
  const size_t line = out.find(cause + " ");
  if (line == std::string::npos) return -1e9;
  return std::stod(out.substr(out.find("s: ", line) + 3));
}

TEST_F(Simulate, DisturbancesShowTheirCost) {
  const Outcome outcome = run({"--slow", "rank=20:1.5x", "--link", "between:0.1x"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const double slow = cost_of(outcome.out, "--slow rank=20:1.5x"),
               link = cost_of(outcome.out, "--link between:0.1x");
  EXPECT_GT(slow, 5);
  EXPECT_LT(slow, 50);
  EXPECT_GT(link, 1);
  EXPECT_GT(cost_of(outcome.out, "all at once"), std::max(slow, link));
  EXPECT_GT(cost_of(run({"--link", "inside:0.25x"}).out, "--link inside:0.25x"), 1);
  EXPECT_NEAR(cost_of(run({"--slow", "rank=0:1x"}).out, "--slow rank=0:1x"), 0, 1e-9);
}

TEST_F(Simulate, FailuresShowWhatTheRunThenTakes) {
  const Outcome outcome = run({"--fail", "step=1500:restart=3600s", "--mtbf", "1000"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no failures  "));
  EXPECT_THAT(outcome.out, HasSubstr("restarts 1.00; goodput"));
  EXPECT_THAT(outcome.out, HasSubstr("one failure per 15.62 h of all ranks: "));
}

TEST_F(Simulate, ForMachines) {
  const Outcome outcome = run({"--json", "--slow", "rank=20:1.5x", "--link", "between:0.1x", "--fail",
                               "step=1500:restart=3600s", "--mtbf", "1e-3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["ranks"], 64);
  EXPECT_EQ(json["cluster"]["nodes"], 8);
  double stands_for = 0;
  for (const auto& rank : json["each"]) {
    stands_for += rank["stands_for"].get<double>();
    double sum_s = 0;
    for (const auto& [part, seconds] : rank["parts_s"].items()) sum_s += seconds.get<double>();
    EXPECT_NEAR(sum_s, json["step_s"].get<double>(), 1e-9);
  }
  EXPECT_EQ(stands_for, 64);
  ASSERT_EQ(json["causes"].size(), 2U);
  EXPECT_EQ(json["causes"][0]["cause"], "--slow rank=20:1.5x");
  EXPECT_GT(json["causes"][0]["step_s"], json["undisturbed_step_s"]);
  EXPECT_GT(json["step_s"], json["causes"][1]["step_s"]);
  EXPECT_EQ(json["with_failures"]["restarts_s"], 3600);
  EXPECT_EQ(json["no_failures"]["lost_s"], 0);
  EXPECT_TRUE(json["expected"]["total_s"].is_null());  // it never ends
}

TEST_F(Simulate, BadInputIsRefused) {
  const auto refusal = [&](const Arguments& more) {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--slow", "rank=64:2x"}),
              HasSubstr("rank 64 is none of the run's 64, which are 0 to 63"));
  EXPECT_THAT(refusal({"--slow", "rank=1:0x"}), HasSubstr("the factor 0x must be from"));
  EXPECT_THAT(refusal({"--link", "outside:2x"}), HasSubstr("links inside a node and between nodes"));
  EXPECT_THAT(refusal({"--link", "between:0.5x", "--ranks", "8"}),
              HasSubstr("all 8 ranks are on one node of h100-sxm; give --nodes 2 or more"));
  EXPECT_THAT(refusal({"--fail", "step=2001"}), HasSubstr("which are 1 to 2000 (run.steps)"));
  EXPECT_THAT(refusal({"--nodes", "0"}), HasSubstr("0 must be from 1"));
  EXPECT_THAT(refusal({"--nodes", "7"}), HasSubstr("64"));
  EXPECT_THAT(refusal({"--width", "10"}), HasSubstr("10 must be from 40"));
  EXPECT_THAT(refusal({"--mtbf", "-1"}), HasSubstr("--mtbf"));
  EXPECT_THAT(refusal({"--set", "parallel.tp=3"}), HasSubstr("parallel.tp"));
  const Outcome unknown = run_trireme({"simulate", "planned.toml", "--cluster", "h100-smx"}, folder_.path());
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("h100-sxm"));
}

TEST_F(Simulate, NoNumberOfItIsInfinite) {
  for (const char* hours : {"nan", "inf", "0", "1e-300", "1e400"}) {
    const Outcome outcome = run({"--mtbf", hours});
    EXPECT_EQ(outcome.exit_code, 2) << hours;
    EXPECT_THAT(outcome.err, HasSubstr("must be from 0.001 to 1e+12")) << hours;
  }
  EXPECT_EQ(run({"--mtbf", "5", "--restart", "1e300"}).exit_code, 2);
  const Outcome never = run({"--mtbf", "0.001", "--restart", "1e7"});
  ASSERT_EQ(never.exit_code, 0) << never.err;
  EXPECT_THAT(never.out, HasSubstr("the run never ends"));
  EXPECT_THAT(never.out, Not(HasSubstr("inf ")));
  Arguments links;
  for (int i = 0; i < 120; ++i) links.insert(links.end(), {"--link", "inside:0.001x"});
  const Outcome torn = run(links);
  EXPECT_EQ(torn.exit_code, 2);
  EXPECT_THAT(torn.err, HasSubstr("--link: all factors together are 0; they must be from 1e-06 to 1e+06"));
}

}  // namespace
}  // namespace trireme
