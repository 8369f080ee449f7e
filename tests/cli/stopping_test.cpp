// When a run saves and what makes it stop, besides signals: clocks, notices, disks that fill up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

using Names = std::vector<std::string>;

void wait_for(Process& process, const std::function<bool()>& happened) {
  while (process.running() && !happened()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

Settings endless(const Settings& more) {
  Settings settings = {{"run.steps", "1000000"}, {"lr.decay_steps", "12"}, {"eval.every_steps", "0"}};
  for (const auto& [key, value] : more) settings[key] = value;
  return settings;
}

// The run was ended by something, and its next start is the run that nothing happened to.
void expect_goes_on(const TinyRun& tiny) {
  const int64_t step = static_cast<int64_t>(tiny.metric("tiny", "loss").size());
  Settings settings = endless({{"run.steps", std::to_string(step + 2)}});
  const Outcome again = tiny.train(settings, {"--ranks", "2"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find(fmt::format("checkpoints/step-{:08}: step {}", step, step)), std::string::npos)
      << again.err;
  settings["run.name"] = "whole";
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  EXPECT_EQ(tiny.metric("tiny", "loss"), tiny.metric("whole", "loss"));
}

TEST(Stopping, ANoticeSavesAndStops) {
  const TinyRun tiny;
  const std::string notice = tiny / "taken-away";
  Process process(TinyRun::train_arguments(
                      endless({{"checkpoint.notice", "taken-away"}, {"checkpoint.notice_every_s", "0.01"}}),
                      {"--ranks", "2"}),
                  tiny.path());
  wait_for(process, [&] { return tiny.metric("tiny", "loss").size() > 3; });
  write_bytes(notice, "in two minutes\n");
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 75) << outcome.err;
  EXPECT_NE(outcome.err.find("stopped by a preemption notice"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("taken-away"), std::string::npos) << outcome.err;
  expect_goes_on(tiny);
}

TEST(Stopping, BeforeItsTimeIsOver) {
  const TinyRun tiny;
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = tiny.train(endless({{"run.max_minutes", "0.14"}}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(outcome.exit_code, 75) << outcome.err;
  EXPECT_NE(outcome.err.find("stopped by run.max_minutes"), std::string::npos) << outcome.err;
  EXPECT_LT(took.count(), 0.14 * 60);
  expect_goes_on(tiny);
  const Outcome refused = tiny.train(endless({{"run.max_minutes", "0.01"}}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("run.max_minutes = 0.01 leaves no time for a step"), std::string::npos)
      << refused.err;
}

TEST(Stopping, SavesByTheClock) {
  const TinyRun tiny;
  Process process(TinyRun::train_arguments(endless({{"checkpoint.every_steps", "0"},
                                                    {"checkpoint.every_minutes", "0.002"},
                                                    {"checkpoint.keep", "0"}})),
                  tiny.path());
  wait_for(process, [&] { return tiny.checkpoints("tiny").size() >= 4; });
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 75) << outcome.err;
  EXPECT_EQ(tiny.run({"ckpt", "verify", "runs/tiny"}).exit_code, 0);
}

TEST(Stopping, KeepsEveryMultipleToo) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"checkpoint.every_steps", "1"},
                        {"checkpoint.keep", "2"},
                        {"checkpoint.keep_every_steps", "5"}})
                .exit_code,
            0);
  EXPECT_EQ(tiny.checkpoints("tiny"),
            (Names{"step-00000005", "step-00000010", "step-00000011", "step-00000012"}));
}

class FailingSaves : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Async, FailingSaves, testing::Values("true", "false"));

// Where a save fails and the run may go on: it says so each time, and the last one must succeed.
TEST_P(FailingSaves, AreSaidAndTriedAgain) {
  const TinyRun tiny;
  const Settings settings = {{"checkpoint.on_failure", "continue"}, {"checkpoint.async", GetParam()}};
  ASSERT_EQ(tiny.train({{"run.name", "whole"}}).exit_code, 0);
  const std::string checkpoints = tiny.run_folder("tiny") + "/checkpoints";
  write_bytes(checkpoints, "in the way");
  Process process(TinyRun::train_arguments(settings, {"--ranks", "2"}), tiny.path());
  const auto warned = [&] {
    return test::slurp(tiny.run_folder("tiny") + "/train.log").find("is not saved");
  };
  wait_for(process, [&] { return warned() != std::string::npos; });
  std::filesystem::remove(checkpoints);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("checkpoint.on_failure = \"continue\": going on"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("saved runs/tiny/checkpoints/step-00000012"), std::string::npos) << outcome.err;
  EXPECT_EQ(tiny.fingerprint("tiny"), tiny.fingerprint("whole"));
}

TEST_P(FailingSaves, EndTheRunWithTheLastOne) {
  const TinyRun tiny;
  write_bytes(tiny.run_folder("tiny") + "/checkpoints", "in the way");
  Settings settings = {{"checkpoint.on_failure", "continue"}, {"checkpoint.async", GetParam()}};
  const Outcome failed = tiny.train(settings);
  EXPECT_EQ(failed.exit_code, 3) << failed.err;
  EXPECT_NE(failed.err.find("step-00000004 is not saved"), std::string::npos) << failed.err;
  EXPECT_NE(failed.err.find("trireme: checkpoint runs/tiny/checkpoints/step-00000012 is not saved"),
            std::string::npos)
      << failed.err;
  settings["checkpoint.on_failure"] = "stop";
  const Outcome stopped = tiny.train(settings, {"--ranks", "2"});
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_NE(stopped.err.find("trireme: checkpoint runs/tiny/checkpoints/step-00000004 is not saved"),
            std::string::npos)
      << stopped.err;
}

// Where the steps wait for a save, none is done behind one that failed; and only the last save of a run must
// succeed.
TEST(Stopping, ASaveThatTheStepsWaitForIsSpokenOfAtOnce) {
  const TinyRun tiny;
  const std::string checkpoints = tiny.run_folder("tiny") + "/checkpoints";
  write_bytes(checkpoints, "in the way");
  const Outcome stopped = tiny.train({{"checkpoint.async", "false"}});
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_EQ(tiny.metric("tiny", "loss").size(), 4u);

  for (const char* async : {"false", "true"}) {
    SCOPED_TRACE(async);
    std::filesystem::remove_all(checkpoints);
    write_bytes(checkpoints, "in the way");
    Process process(TinyRun::train_arguments(
                        endless({{"checkpoint.on_failure", "continue"}, {"checkpoint.async", async}})),
                    tiny.path());
    const std::string log = tiny.run_folder("tiny") + "/train.log";
    const size_t before = test::slurp(log).size();
    wait_for(process, [&] { return test::slurp(log).find("going on", before) != std::string::npos; });
    std::filesystem::remove(checkpoints);
    process.send(SIGTERM);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 75) << outcome.err;
  }
}

}  // namespace
}  // namespace trireme
