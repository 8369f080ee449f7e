// run.trace_steps through the real binary: a file per step asked for, with every rank's actions in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

struct Event {
  std::string name;
  double start = 0, end = 0;  // us
};
using Rows = std::map<std::string, std::vector<Event>>;  // by "rank 0 compute"

Rows rows_of(const std::string& file) {
  Rows rows;
  std::map<std::pair<int, int>, std::string> names;
  const auto json = nlohmann::json::parse(file);
  for (const auto& event : json["traceEvents"]) {
    const int rank = event["pid"];
    if (event["name"] == "thread_name")
      names[{rank, event["tid"]}] = "rank " + std::to_string(rank) + " " + std::string(event["args"]["name"]);
    if (event["ph"] != "X") continue;
    const double start = event["ts"];
    rows[names.at({rank, event["tid"]})].push_back({event["name"], start, start + double(event["dur"])});
  }
  return rows;
}

// By name, how often: of the actions of a stream of the timeline that `trireme compile` prints.
std::map<std::string, int> planned(const TinyRun& tiny, const Settings& settings, int rank,
                                   const std::string& stream) {
  Arguments arguments = {"compile", "config.toml", "--print", "timeline", "--rank", std::to_string(rank)};
  for (const auto& [key, value] : settings) arguments.insert(arguments.end(), {"--set", key + "=" + value});
  const Outcome outcome = tiny.run(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, int> actions;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line) && !line.starts_with("timeline eval");) {
    std::istringstream words(line.substr(0, line.find(" after ")));
    std::string number, on, name;
    words >> number >> on;
    if (on != stream) continue;
    for (std::string word; words >> word;) name += (name.empty() ? "" : " ") + word;
    ++actions[name];
  }
  return actions;
}

std::map<std::string, int> seen(const std::vector<Event>& row) {
  std::map<std::string, int> actions;
  for (const Event& event : row) ++actions[event.name];
  return actions;
}

bool any_at_once(const std::vector<Event>& a, const std::vector<Event>& b) {
  return std::ranges::any_of(a, [&](const Event& x) {
    return std::ranges::any_of(b, [&](const Event& y) { return x.start < y.end && y.start < x.end; });
  });
}

TEST(Trace, TwoRanksEveryActionOnce) {
  const TinyRun tiny;
  const Settings settings = {{"run.trace_steps", "[2,4]"}, {"run.steps", "4"},     {"run.threads", "2"},
                             {"parallel.dp_shard", "2"},   {"parallel.zero", "3"}, {"batch.micro", "1"}};
  const Outcome outcome = tiny.train(settings);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(tiny.run_folder("tiny") + "/traces"))
    files.push_back(entry.path().filename());
  std::ranges::sort(files);
  EXPECT_EQ(files, (std::vector<std::string>{"step-00000002.json", "step-00000004.json"}));
  Rows rows = rows_of(test::slurp(tiny.run_folder("tiny") + "/traces/step-00000002.json"));
  EXPECT_EQ(rows.size(), 6u);
  bool beside = false;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string name = "rank " + std::to_string(rank) + " ";
    ASSERT_EQ(rows[name + "step"].size(), 1u);
    const Event step = rows[name + "step"][0];
    for (const char* stream : {"compute", "comm"}) {
      EXPECT_EQ(seen(rows[name + stream]), planned(tiny, settings, rank, stream)) << name << stream;
      EXPECT_GT(rows[name + stream].size(), 5u);
      double before = step.start - 0.01;  // times are written with three digits
      for (const Event& event : rows[name + stream]) {
        EXPECT_GE(event.start, before - 0.01) << event.name;
        EXPECT_GE(event.end, event.start) << event.name;
        before = event.end;
      }
      EXPECT_LE(before, step.end + 0.01);
    }
    beside |= any_at_once(rows[name + "comm"], rows[name + "compute"]);
  }
  EXPECT_TRUE(beside);
}

TEST(Trace, NoneUnlessAskedFor) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.steps", "2"}}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(tiny.run_folder("tiny") + "/traces"));
}

}  // namespace
}  // namespace trireme
