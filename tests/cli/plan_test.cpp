// The planner from the command line: its answers, its exit codes, and a config that it wrote at work.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

Arguments plan_arguments(const Arguments& more, const std::string& cluster = "cpu") {
  Arguments arguments = {"plan", "config.toml", "--cluster", cluster};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Plan, SaysWhatARunNeeds) {
  const TinyRun tiny;
  const Outcome outcome = tiny.run(plan_arguments({}, "h100-sxm"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* said :
       {"parameters", "moments", "there is", "time of a step", "MFU", "tokens/s", "GPU-hours"})
    EXPECT_NE(outcome.out.find(said), std::string::npos) << said;
}

TEST(Plan, SpreadsRanksOverTheNodesThatAreGiven) {
  const TinyRun tiny;
  const Outcome outcome =
      tiny.run(plan_arguments({"--nodes", "2", "--json", "--set", "batch.sequences=32"}, "h100-sxm"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("parallel.dp_replicate = 16"), std::string::npos) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["ranks"], 16);
  EXPECT_EQ(json["layout"]["dp_replicate"], 16);
}

TEST(Plan, TakesNumbersOverTheHardwareFile) {
  const TinyRun tiny;
  const auto json_of = [&](const Arguments& more) {
    const Outcome outcome = tiny.run(plan_arguments(more, "h100-sxm"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const auto file = json_of({"--json"}), fused = json_of({"--json", "--assume", "kernels.unfused=1"});
  EXPECT_EQ(file["cluster"]["assumed"].size(), 0U);
  EXPECT_EQ(fused["cluster"]["assumed"][0], "kernels.unfused = 1 (the file has 4.2)");
  EXPECT_LT(fused["step_s"].get<double>(), file["step_s"].get<double>());
  EXPECT_EQ(fused["memory"], file["memory"]);
  const std::string line = "\nassumed: kernels.unfused = 1 (the file has 4.2)\n";
  for (const char* command : {"plan", "simulate"}) {
    const Outcome outcome =
        tiny.run({command, "config.toml", "--cluster", "h100-sxm", "--assume", "kernels.unfused=1"});
    EXPECT_NE(outcome.out.find(line), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(tiny.run(plan_arguments({"--assume", "kernels.fused=1"}, "h100-sxm")).exit_code, 2);
}

TEST(Plan, EndsWithTwoWhereARunDoesNotFit) {
  const TinyRun tiny;
  const Outcome outcome = tiny.run(plan_arguments(
      {"--set", "model.layers=16", "--set", "model.width=4096", "--set", "model.heads=32"}, "h100-sxm"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.out.find("\ndoes not fit: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("too many"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("changes that fit"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("checkpoint.async = false would leave out"), std::string::npos) << outcome.out;
}

TEST(Plan, LooksAtMoreNodesWhereTheGivenAreTooFew) {
  const TinyRun tiny;
  const Outcome outcome = tiny.run(plan_arguments(
      {"--nodes", "1", "--ranks", "1", "--set", "model.layers=32", "--set", "model.width=8192", "--set",
       "model.heads=64", "--set", "data.seq_len=64", "--set", "checkpoint.async=false"},
      "l4"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.out.find(" devices)\n"), std::string::npos) << outcome.out;
}

TEST(Plan, WritesALayoutThatTrains) {
  const TinyRun tiny;
  const Outcome found = tiny.run(plan_arguments({"--search", "--ranks", "2", "--write", "best.toml"}));
  ASSERT_EQ(found.exit_code, 0) << found.err << found.out;
  EXPECT_NE(found.out.find("from the simplest up"), std::string::npos) << found.out;
  const Outcome trained = tiny.run({"train", "best.toml", "--set", "run.steps=3", "--set", "run.threads=2"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  const std::string text = test::slurp(tiny / "best.toml");
  EXPECT_NE(text.find("trireme plan --search"), std::string::npos);
  EXPECT_NE(text.find("sequences = 4\n"), std::string::npos);
}

TEST(Plan, PricesARunByThePricesOfItsDevice) {
  const TinyRun tiny;
  write_bytes(tiny / "prices.toml",
              "[[price]]\nprovider = \"cloud\"\ndevice = \"h100-sxm\"\non_demand = 3.0\ncurrency = \"USD\"\n"
              "unit = \"gpu_hour\"\ndate = 2026-01-15\n");
  const Outcome text = tiny.run(plan_arguments({"--prices", "prices.toml"}, "h100-sxm"));
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("USD"), std::string::npos) << text.out;
  const Outcome outcome = tiny.run(plan_arguments({"--prices", "prices.toml", "--json"}, "h100-sxm"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_NEAR(json["cost"]["results"][0]["value"].get<double>(), 3 * json["device_hours"].get<double>(),
              1e-9);
  const Outcome other = tiny.run(plan_arguments({"--prices", "prices.toml"}, "a100-80"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("a100-80"), std::string::npos) << other.err;
}

struct BadInput {
  Arguments more;
  std::string cluster, message;
};

TEST(Plan, RefusesBadInput) {
  const TinyRun tiny;
  for (const BadInput& bad : std::vector<BadInput>{
           {{}, "h100-sxn", "h100-sxm"},
           {{"--nodes", "0"}, "h100-sxm", "--nodes: 0 must be from 1"},
           {{"--ranks", "0"}, "h100-sxm", "--ranks"},
           {{"--set", "parallel.tp=3"}, "h100-sxm", "parallel.tp = 3 does not divide model.heads = 4"},
           {{"--nodes", "2"}, "h100-sxm", "batch.sequences = 4"},
           {{"--nodes", "1", "--ranks", "16", "--set", "batch.sequences=32"}, "h100-sxm", "use 2 nodes"},
           {{"--write", "best.toml"}, "h100-sxm", "--write best.toml needs --search"},
           {{"--search", "--prices", "prices.toml"}, "h100-sxm", "--prices prices.toml is for a plan"},
           {{"--search", "--ranks", "7"}, "h100-sxm", "batch.sequences = 4"}}) {
    const Outcome outcome = tiny.run(plan_arguments(bad.more, bad.cluster));
    EXPECT_EQ(outcome.exit_code, 2) << bad.message;
    EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << outcome.err;
  }
}

TEST(Plan, NeedsAPlaceToWrite) {
  const TinyRun tiny;
  const std::string before = test::slurp(tiny / "config.toml");
  const Outcome below = tiny.run(plan_arguments({"--search", "--write", "config.toml/best.toml"}));
  EXPECT_EQ(below.exit_code, 3);
  EXPECT_NE(below.err.find("config.toml"), std::string::npos) << below.err;
  const Outcome over = tiny.run(plan_arguments({"--search", "--write", "config.toml"}));
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_NE(over.err.find("is there already; name another place or remove it"), std::string::npos)
      << over.err;
  EXPECT_EQ(test::slurp(tiny / "config.toml"), before);
}

TEST(Plan, MoreDevicesThanRanksMayBeAreRefused) {
  const TinyRun tiny;
  for (const bool search : {false, true}) {
    Arguments more = {"--nodes", "1000000"};
    if (search) more.emplace_back("--search");
    const Outcome outcome = tiny.run(plan_arguments(more, "h100-sxm"));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("--nodes 1000000 of h100-sxm have 8000000 devices"), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("use 131072 nodes or fewer"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace trireme
