// A run in parts is the run in one: loss, grad norm, lr, samples, weights and moments to the last bit,
// whether it was stopped by its step count, by a signal, or with other threads in between.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

using std::chrono::milliseconds;

// Waits until metrics.jsonl has `count` lines; false when the process ends before.
bool wait_for_lines(const TinyRun& tiny, Process& process, const std::string& run, size_t count) {
  const std::string path = tiny.run_folder(run) + "/metrics.jsonl";
  while (lines_of(test::slurp(path)).size() < count) {
    if (!process.running()) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

struct Variant {
  const char* name;
  Settings settings;
};

class ResumeTest : public testing::TestWithParam<Variant> {};

TEST_P(ResumeTest, PartsAreTheWhole) {
  const TinyRun tiny;
  Settings settings = GetParam().settings;
  settings["lr.decay_steps"] = "12";
  settings["run.name"] = "whole";
  ASSERT_EQ(tiny.train(settings).exit_code, 0);

  settings["run.name"] = "parts";
  for (const char* steps : {"3", "9", "12"}) {
    settings["run.steps"] = steps;
    const Outcome part = tiny.train(settings);
    ASSERT_EQ(part.exit_code, 0) << part.err;
    // Threads change no bit, so the parts may differ in them.
    settings["run.threads"] = settings["run.threads"] == "2" ? "1" : "2";
  }
  const std::string whole = tiny.fingerprint("whole");
  EXPECT_GT(whole.size(), 2000u);
  EXPECT_EQ(whole, tiny.fingerprint("parts"));
  EXPECT_EQ(tiny.metric("parts", "loss").size(), 12u);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, ResumeTest,
    testing::Values(
        Variant{"gpt2_bf16_stream", {}},
        Variant{"gpt2_fp32_document", {{"precision.compute", "fp32"}, {"data.packing", "document"}}},
        Variant{"llama_bf16_document",
                {{"model.family", "llama"},
                 {"model.kv_heads", "2"},
                 {"model.qk_norm", "true"},
                 {"data.packing", "document"},
                 {"run.threads", "2"}}},
        Variant{"llama_fp32_stream",
                {{"model.family", "llama"}, {"precision.compute", "fp32"}, {"model.tie_embeddings", "true"}}},
        Variant{"gpt2_bf16_sgd", {{"optimizer.kind", "sgd"}, {"optimizer.momentum", "0.9"}}}),
    [](const auto& variant) { return std::string(variant.param.name); });

// 300 windows an epoch of 78: resumed inside the second epoch and the third.
TEST(ResumeAcrossEpochs, KeepsTheOrder) {
  const TinyRun tiny;
  Settings settings = {{"run.steps", "45"},      {"lr.decay_steps", "45"}, {"eval.every_steps", "0"},
                       {"batch.sequences", "5"}, {"batch.micro", "5"},     {"run.name", "whole"}};
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  settings["run.name"] = "parts";
  for (const char* steps : {"17", "33", "45"}) {
    settings["run.steps"] = steps;
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
  }
  EXPECT_EQ(tiny.fingerprint("whole"), tiny.fingerprint("parts"));
  EXPECT_NE(test::slurp(tiny.run_folder("parts") + "/samples.jsonl").find(":2:"), std::string::npos);
  EXPECT_NE(test::slurp(tiny.run_folder("parts") + "/train.log").find("begins epoch 2"), std::string::npos);
}

TEST(Signal, SavesExits75AndTheSameCommandGoesOn) {
  const TinyRun tiny;
  Settings settings = {{"run.steps", "60"}, {"checkpoint.every_steps", "0"}, {"eval.every_steps", "20"}};
  settings["run.name"] = "whole";
  ASSERT_EQ(tiny.train(settings).exit_code, 0);

  settings["run.name"] = "stopped";
  size_t lines = 0;
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process(TinyRun::train_arguments(settings), tiny.path());
    ASSERT_TRUE(wait_for_lines(tiny, process, "stopped", lines + 5));
    process.send(signal);
    const Outcome outcome = process.wait();
    ASSERT_EQ(outcome.exit_code, 75) << outcome.err;
    lines = lines_of(test::slurp(tiny.run_folder("stopped") + "/metrics.jsonl")).size();
    ASSERT_LT(lines, 60u);
    EXPECT_EQ(tiny.checkpoints("stopped").back(),
              (lines < 10 ? "step-0000000" : "step-000000") + std::to_string(lines));
    EXPECT_NE(outcome.err.find("stopped by signal " + std::to_string(signal)), std::string::npos);
  }
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  EXPECT_EQ(tiny.fingerprint("whole"), tiny.fingerprint("stopped"));
}

// A step of seconds, so that all the signals come while the first waits for the step's end.
class SignalsInAStep {
 public:
  explicit SignalsInAStep(const std::vector<int>& signals) {
    EXPECT_EQ(tiny.train({{"run.steps", "4"}}).exit_code, 0);
    before = tiny.fingerprint("tiny");
    Process process(TinyRun::train_arguments(settings), tiny.path());
    while (process.running() &&
           test::slurp(tiny.run_folder("tiny") + "/train.log").find("resumed from") == std::string::npos)
      std::this_thread::sleep_for(milliseconds(2));
    for (const int signal : signals) {
      EXPECT_TRUE(process.running());
      process.send(signal);
      std::this_thread::sleep_for(milliseconds(100));
    }
    outcome = process.wait();
  }

  TinyRun tiny;
  Settings settings = {{"run.steps", "6"}, {"batch.sequences", "4000"}};
  std::string before;
  Outcome outcome;
};

TEST(Signal, ASecondCtrlCEndsItAtOnceAndHarmsNothing) {
  const SignalsInAStep run({SIGTERM, SIGINT, SIGINT});
  EXPECT_EQ(run.outcome.exit_code, 128 + SIGINT);
  EXPECT_EQ(run.tiny.run({"ckpt", "verify", "runs/tiny"}).exit_code, 0);
  EXPECT_EQ(run.tiny.fingerprint("tiny"), run.before);
}

// Launchers repeat themselves.
TEST(Signal, RepeatedOnesLoseNoSave) {
  const SignalsInAStep run({SIGTERM, SIGTERM, SIGUSR1, SIGTERM});
  EXPECT_EQ(run.outcome.exit_code, 75) << run.outcome.err;
  EXPECT_NE(run.outcome.err.find("stopped by signal 15 (sent 4 times) after step 5"), std::string::npos)
      << run.outcome.err;
  EXPECT_EQ(run.tiny.checkpoints("tiny").back(), "step-00000005");
}

// Whoever read the progress lines is gone after the first of them.
TEST(Signal, AClosedPipeDoesNotEndTheRun) {
  const TinyRun tiny;
  const std::string command =
      "cd '" + tiny.path() + "' && '" + TRIREME_BINARY + "' train config.toml 2>&1 | head -n 1 > first-line";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(lines_of(test::slurp(tiny / "first-line")).size(), 1u);
  EXPECT_EQ(tiny.metric("tiny", "loss").size(), 12u);
  EXPECT_EQ(tiny.checkpoints("tiny").back(), "step-00000012");
}

TEST(Run, SaysThatTheDataIsAnother) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train().exit_code, 0);
  const std::string shard = test::slurp(tiny / "shards/train.u16");
  write_bytes(tiny / "shards/train.u16", shard.substr(0, 2 * (10 * 64 + 1)));
  const Outcome outcome = tiny.train({{"run.steps", "13"}, {"lr.decay_steps", "12"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("warning: data.train had 78 windows and now has 10"), std::string::npos)
      << outcome.err;
}

TEST(Run, MayBeMoved) {
  const TinyRun tiny;
  Settings settings = {{"lr.decay_steps", "12"}, {"run.name", "whole"}};
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  settings["run.name"] = "before";
  settings["run.steps"] = "9";
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  std::filesystem::create_directories(tiny / "elsewhere");
  std::filesystem::rename(tiny.run_folder("before"), tiny / "elsewhere/after");
  settings = {{"lr.decay_steps", "12"}, {"run.dir", "elsewhere"}, {"run.name", "after"}};
  const Outcome moved = tiny.train(settings);
  ASSERT_EQ(moved.exit_code, 0) << moved.err;
  std::filesystem::rename(tiny / "elsewhere/after", tiny.run_folder("after"));
  EXPECT_EQ(tiny.fingerprint("whole"), tiny.fingerprint("after"));
  EXPECT_EQ(tiny.run({"eval", "runs/after"}).exit_code, 0);
}

}  // namespace
}  // namespace trireme
