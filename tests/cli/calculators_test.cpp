// The calculators as people run them: what they print, their JSON, and their refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "cli/process.h"

namespace trireme {
namespace {

Outcome run_in_tree(const Arguments& arguments) {
  const test::ScratchFolder folder;
  return run_trireme(arguments, folder.path());
}

// With --json; the result of that key.
double value_of(Arguments arguments, const std::string& key) {
  arguments.emplace_back("--json");
  const Outcome outcome = run_in_tree(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  if (json.is_discarded() || !json["results"].contains(key)) {
    ADD_FAILURE() << key << " in " << outcome.out;
    return 0;
  }
  return json["results"][key]["value"].get<double>();
}

const std::string kPrices = TRIREME_SOURCE_DIR "/docs/prices-example.toml";
const std::string kTiny = TRIREME_SOURCE_DIR "/configs/tiny.toml";

TEST(Calculators, GiveTheKnownNumbers) {
  EXPECT_EQ(value_of({"fit", "--params", "7B", "--gpus", "8"}, "published_zero0"), 112e9);
  EXPECT_EQ(value_of({"fit", "--params", "7e9", "--gpus", "8"}, "published_zero3"), 14e9);
  const Arguments shape = {"fit",  "--params", "7B", "--seq",   "8192", "--width",
                           "4096", "--layers", "32", "--heads", "32"};
  EXPECT_NEAR(value_of(shape, "activations_with_scores"), 380e9, 0.5e9);
  EXPECT_NEAR(value_of(shape, "activations"), 36.5e9, 0.05e9);
  EXPECT_NEAR(value_of({"hours", "--params", "1B", "--tokens", "100B", "--gpus", "8", "--device", "a100-80",
                        "--mfu", "40 %"},
                       "hours"),
              167, 0.5);
  EXPECT_NEAR(value_of({"hours", "--params", "7B", "--tokens", "1T", "--gpus", "64", "--device", "h100-sxm",
                        "--mfu", "0.4"},
                       "hours"),
              461, 0.5);
  EXPECT_EQ(value_of({"flops", "--params", "47B", "--active", "13B"}, "flops_per_token"), 78e9);
  EXPECT_NEAR(
      value_of({"mfu", "--params", "1B", "--tokens-per-s", "100", "--gpus", "2", "--peak", "1T"}, "mfu"), 0.3,
      1e-12);
  EXPECT_NEAR(
      value_of({"interval", "--mtbf", "24h", "--save", "5min", "--restart", "10min"}, "daly_interval"),
      117 * 60, 30);
  EXPECT_NEAR(value_of({"interval", "--preemptions", "0.5", "--devices", "8", "--save", "30s"}, "mtbf"), 900,
              1e-9);
  EXPECT_NEAR(value_of({"cost", "--prices", kPrices, "--device", "h100-sxm", "--gpus", "64", "--hours", "461",
                        "--today", "2026-01-20"},
                       "price1_on_demand"),
              88512, 1e-6);
  EXPECT_NEAR(value_of({"lr", "--lr", "3e-4", "--from", "512", "--to", "2048"}, "lr"), 6e-4, 1e-15);
}

TEST(Calculators, TakeAConfig) {
  EXPECT_GT(value_of({"fit", kTiny, "--memory", "1GB"}, "spare"), 0);
  EXPECT_GT(value_of({"fit", kTiny, "--device", "l4"}, "spare"), 0);
  EXPECT_GT(value_of({"flops", kTiny}, "flops_per_step"), 0);
  EXPECT_GT(value_of({"hours", kTiny, "--gpus", "1", "--mfu", "40%", "--device", "l4"}, "hours"), 0);
  EXPECT_GT(value_of({"mfu", kTiny, "--tokens-per-s", "1000", "--device", "l4"}, "mfu"), 0);
  EXPECT_EQ(value_of({"lr", kTiny, "--to", "16"}, "k"), 2);
}

TEST(Calculators, ShowFormulasWithTheNumbersInThem) {
  const Outcome outcome = run_in_tree(
      {"hours", "--params", "7B", "--tokens", "1T", "--gpus", "64", "--peak", "989T", "--mfu", "40%"});
  for (const char* part :
       {"6 * N * D / (GPUs * peak * MFU * 3600)", "= 6 * 7e9 * 1e12 / (64 * 989e12 * 0.4 * 3600)",
        "= 460.8 h (19 days 5 h)", "bf16"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in " << outcome.out;
}

// A price's age is counted to the clock's day where --today is not given.
TEST(Calculators, KnowTheDay) {
  const Arguments cost = {"cost", "--prices", kPrices, "--device", "a100-80", "--gpus", "8", "--hours", "10"};
  EXPECT_NE(run_in_tree(cost).out.find("OLD PRICE: example-europe a100-80 is of 2026-01-10"),
            std::string::npos);
}

struct Mistake {
  Arguments arguments;
  std::string message;
};

TEST(Calculators, RefuseWithKeyValueAndCure) {
  const Arguments run = {"hours", "--params", "7B", "--tokens", "1T"};
  const auto with = [](Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Mistake mistakes[] = {
      {with(run, {"--gpus", "0", "--mfu", "40%", "--peak", "1T"}), "--gpus 0: it must be more than 0"},
      {with(run, {"--gpus", "-8", "--mfu", "40%", "--peak", "1T"}), "--gpus -8: it must not be negative"},
      {with(run, {"--gpus", "8", "--mfu", "nan", "--peak", "1T"}), "--mfu nan: NaN is no share"},
      {with(run, {"--gpus", "8", "--mfu", "40%", "--device", "h100-sx"}), "unknown hardware h100-sx"},
      {with(run, {"--gpus", "8", "--mfu", "40%", "--device", "a100-80", "--dtype", "fp8"}),
       "--dtype fp8: NVIDIA A100"},
      {with(run, {"--gpus", "8", "--mfu", "40%", "--device", "a100-80", "--dtype", "bf61"}),
       "--dtype bf61: there are"},
      {with(run, {"--gpus", "8", "--mfu", "40%"}), "say what the peak is: --device h100-sxm, or --peak 989T"},
      {with(run, {"--gpus", "8", "--mfu", "40%", "--peak", "1T", "--device", "l4"}),
       "--device and --peak both"},
      {with(run, {"--gpus", "8", "--hours", "1", "--peak", "1T"}), "more than 100 % is impossible"},
      {with(run, {"--gpus", "8", "--peak", "1T"}), "--mfu and --hours are not given"},
      {{"hours", "--tokens", "1T", "--peak", "1T"}, "say which model: a CONFIG, or --params 7B"},
      {{"flops", kTiny, "--params", "7B"}, "both say the model; give one"},
      {{"flops", "--params", "7B", "--layers", "32"}, "--layers, --width and --seq go together"},
      {{"flops", "--params", "7B", "--active", "8B"}, "--active 8B: more than all parameters, --params 7B"},
      {{"flops", "--params", "7B", "--set", "run.steps=1"}, "--set run.steps=1: there is no CONFIG"},
      {{"mfu", "--params", "7B", "--tokens-per-s", "1e3", "--peak", "1T"}, "--gpus is missing"},
      {{"fit"}, "say which model: a CONFIG, or --params 7B"},
      {{"fit", "--params", "7B", "--gpus", "8", "--tp", "3"}, "--tp 3 does not divide --gpus 8"},
      {{"fit", "--params", "7B", "--seq", "8"}, "--width is missing: activations need"},
      {{"fit", "--params", "7B", "--gpus", "6", "--tp", "6", "--seq", "8", "--width", "8", "--layers", "1",
        "--heads", "8"},
       "--tp 6 does not divide --heads 8"},
      {{"fit", "--params", "7B", "--recompute", "full"}, "--recompute is of activations"},
      {{"fit", "--params", "7B", "--ranks", "2"}, "--ranks 2: there is no CONFIG"},
      {{"fit", kTiny, "--gpus", "8"}, "--gpus 8: "},
      {{"fit", kTiny, "--recompute", "full"}, "--recompute full: "},
      {{"fit", kTiny, "--sequence"}, "--sequence: "},
      {{"fit", kTiny, "--device", "l4", "--memory", "1GB"}, "--device and --memory both say the memory"},
      {{"interval", "--save", "30s"}, "say how often a unit fails"},
      {{"interval", "--mtbf", "1h", "--preemptions", "1", "--save", "1s"}, "--mtbf and --preemptions both"},
      {{"interval", "--mtbf", "50000", "--save", "30s"}, "--mtbf 50000: it needs a unit"},
      {{"cost", "--prices", kPrices, "--device", "h100-sxm", "--gpus", "8", "--hours", "1", "--interval",
        "1h"},
       "--interval 1h: it matters only with --preemptions"},
      {{"cost", "--prices", kPrices, "--device", "h100-sxm", "--gpus", "8", "--hours", "1", "--today",
        "tomorrow"},
       "--today tomorrow is no day"},
      {{"lr", "--to", "8"}, "say what the run has now"},
      {{"lr", "--lr", "1", "--from", "1", "--to", "1", "--beta1", "1"}, "--beta1 1: it must be less than 1"},
      {{"lr", "--to", "8", "--set", "run.steps=1"}, "--set run.steps=1: there is no CONFIG"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = run_in_tree(mistake.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << mistake.message;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(mistake.message), std::string::npos)
        << mistake.message << " in " << outcome.err;
  }
  const Outcome missing =
      run_in_tree({"cost", "--prices", "none.toml", "--device", "x", "--gpus", "1", "--hours", "1"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_NE(missing.err.find("cannot open the price file none.toml"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace trireme
