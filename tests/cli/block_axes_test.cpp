// The real binary with layers cut over ranks: losses to 1e-4 of one rank's, and everything that is no sum of
// floats to the digit.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

const Settings kShared = {{"batch.sequences", "8"},     {"batch.micro", "2"},
                          {"lr.decay_steps", "12"},     {"precision.compute", "fp32"},
                          {"data.log_samples", "true"}, {"run.threads", "2"}};

Settings with(const Settings& more, const std::string& name) {
  Settings settings = kShared;
  for (const auto& [key, value] : more) settings[key] = value;
  settings["run.name"] = name;
  return settings;
}

void expect_same_run(const TinyRun& tiny, const std::string& run, const std::string& one) {
  for (const char* exact : {"tokens_seen", "counted_tokens", "lr", "skipped_steps"})
    EXPECT_EQ(tiny.metric(run, exact), tiny.metric(one, exact)) << exact;
  EXPECT_EQ(test::slurp(tiny.run_folder(run) + "/samples.jsonl"),
            test::slurp(tiny.run_folder(one) + "/samples.jsonl"));
  for (const char* close : {"loss", "grad_norm", "val_loss"}) {
    const auto mine = tiny.metric(run, close), others = tiny.metric(one, close);
    ASSERT_EQ(mine.size(), others.size()) << close;
    for (const auto& [step, text] : mine) {
      const double other = std::stod(others.at(step));
      EXPECT_NEAR(std::stod(text), other, 1e-4 * std::abs(other)) << close << " of step " << step;
    }
  }
}

TEST(BlockAxesCli, EveryLayoutTrainsTheSameRun) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({}, "one")).exit_code, 0);
  ASSERT_EQ(tiny.metric("one", "loss").size(), 12u);
  int n = 0;
  for (const Settings& layout :
       {Settings{{"parallel.tp", "2"}}, Settings{{"parallel.tp", "4"}, {"parallel.sequence", "false"}},
        Settings{{"parallel.cp", "2"}}, Settings{{"parallel.cp", "2"}, {"parallel.cp_mode", "ulysses"}},
        Settings{{"parallel.tp", "2"}, {"parallel.cp", "2"}, {"parallel.pp", "2"}, {"parallel.zero", "2"}}}) {
    const std::string name = "many-" + std::to_string(n++);
    const Outcome outcome = tiny.train(with(layout, name));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    SCOPED_TRACE(name);
    expect_same_run(tiny, name, "one");
  }
}

TEST(BlockAxesCli, ARunMayChangeItsLayoutWhenItIsResumed) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({}, "one")).exit_code, 0);
  const auto go_on = [&](const char* steps, Settings layout) {
    layout["run.steps"] = steps;
    const Outcome outcome = tiny.train(with(layout, "parts"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  go_on("3", {{"parallel.tp", "4"}});
  go_on("6", {{"parallel.cp", "2"}, {"parallel.tp", "2"}});
  go_on("9", {});
  go_on("12",
        {{"parallel.pp", "2"}, {"parallel.tp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "3"}});
  for (const char* exact : {"tokens_seen", "lr"})
    EXPECT_EQ(tiny.metric("parts", exact), tiny.metric("one", exact)) << exact;
  const auto parts = tiny.metric("parts", "loss"), one = tiny.metric("one", "loss");
  ASSERT_EQ(parts.size(), 12u);
  for (const auto& [step, text] : parts)
    EXPECT_NEAR(std::stod(text), std::stod(one.at(step)), 1e-4 * std::stod(one.at(step))) << "step " << step;
}

}  // namespace
}  // namespace trireme
