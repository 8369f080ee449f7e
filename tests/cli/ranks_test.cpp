// The real binary on several ranks: the run is the run of one rank with the same lanes, whatever the layout,
// and may change it when it is resumed.
#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

const Settings kShared = overlaid(kFourLanes, {{"run.threads", "1"}});

Settings with(const Settings& more) { return overlaid(kShared, more); }

TEST(Ranks, EveryLayoutTrainsTheSameRun) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({{"run.name", "one"}})).exit_code, 0);
  const std::string one = tiny.fingerprint("one");
  EXPECT_EQ(tiny.metric("one", "loss").size(), 12u);
  int n = 0;
  for (const Settings& layout :
       {Settings{{"parallel.dp_replicate", "2"}}, Settings{{"parallel.dp_shard", "4"}},
        Settings{{"parallel.dp_shard", "2"}, {"parallel.zero", "2"}},
        Settings{{"parallel.dp_shard", "2"}, {"parallel.dp_replicate", "2"}, {"parallel.zero", "3"}},
        Settings{{"parallel.pp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "2"}},
        Settings{{"parallel.pp", "4"}, {"parallel.schedule", "gpipe"}},
        Settings{{"parallel.dp_shard", "2"}, {"parallel.zero", "3"}, {"parallel.recompute", "full"}}}) {
    Settings settings = with(layout);
    settings["run.name"] = "many-" + std::to_string(n++);
    const Outcome outcome = tiny.train(settings);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(tiny.fingerprint(settings["run.name"]), one) << settings["run.name"];
  }
}

TEST(Ranks, ARunMayChangeItsLayoutWhenItIsResumed) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({{"run.name", "one"}})).exit_code, 0);
  Settings settings = with({{"run.name", "parts"}, {"run.steps", "3"}, {"parallel.zero", "3"}});
  ASSERT_EQ(tiny.train(settings, {"--ranks", "4"}).exit_code, 0);
  settings["run.steps"] = "9";
  settings["parallel.zero"] = "0";
  ASSERT_EQ(tiny.train(settings, {"--ranks", "2"}).exit_code, 0);
  settings["run.steps"] = "12";
  settings["parallel.zero"] = "1";
  settings["parallel.recompute"] = "selective";
  ASSERT_EQ(tiny.train(settings, {"--ranks", "2"}).exit_code, 0);
  EXPECT_EQ(tiny.fingerprint("parts"), tiny.fingerprint("one"));
}

// An id beyond the vocabulary, which one rank alone meets.
TEST(Ranks, AMistakeThatOneRankMeetsEndsTheRunAsTheMistakeThatItIs) {
  const TinyRun tiny;
  std::string shard = test::slurp(tiny / "shards/train.u16");
  shard[shard.size() / 2 | 1] = 7;
  write_bytes(tiny / "shards/train.u16", shard);
  const Outcome outcome = tiny.train(with({{"run.steps", "30"}}), {"--ranks", "4"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("model.vocab"), std::string::npos) << outcome.err;
}

TEST(Ranks, WhatDoesNotDivideIsRefusedWithTheCure) {
  const TinyRun tiny;
  const auto message = [&](const Settings& settings) {
    const Outcome outcome = tiny.train(settings);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_NE(message({{"parallel.dp_shard", "3"}}).find("batch.sequences"), std::string::npos);
  EXPECT_NE(message(with({{"parallel.dp_shard", "8"}})).find("batch.lanes"), std::string::npos);
  EXPECT_NE(message(with({{"batch.lanes", "6"}})).find("power of two"), std::string::npos);
  EXPECT_NE(message({{"parallel.reshard_after_forward", "false"}}).find("parallel.zero = 3"),
            std::string::npos);
  const Outcome outcome = tiny.run({"compile", "config.toml", "--rank", "1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("1 ranks, 0 to 0"), std::string::npos) << outcome.err;
  EXPECT_EQ(tiny.run({"compile", "config.toml", "--ranks", "2", "--rank", "1"}).exit_code, 0);
  for (const char* ranks : {"0", "-1", "1048577", "two"})
    EXPECT_EQ(tiny.train({}, {"--ranks", ranks}).err,
              "trireme: --ranks: " + std::string(ranks) +
                  " must be from 1 to 1048576; --help shows what there is\n");
}

}  // namespace
}  // namespace trireme
