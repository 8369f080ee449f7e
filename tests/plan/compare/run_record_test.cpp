// Metrics and logs as runs leave them: whole, torn, resumed, foreign.
#include "plan/compare/run_record.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme {
namespace {

std::string line(int64_t step, double step_s, const std::string& more = "") {
  return fmt::format(
      "{{\"step\":{},\"loss\":\"nan\",\"step_s\":{},\"loader_stall_s\":0.5,\"exposed_comm_s\":{}{}}}\n", step,
      step_s, step_s / 10, more);
}

RunRecord read(const std::string& metrics, const std::string& log = "") {
  return read_run(metrics, log, "runs/a/metrics.jsonl");
}

TEST(RunRecord, StepsInOrderEachOnce) {
  const RunRecord run = read(line(1, 9) + line(2, 3) + line(3, 5) + line(2, 4));
  ASSERT_EQ(run.steps.size(), 3u);
  EXPECT_EQ(run.steps[1].step, 2);
  EXPECT_EQ(run.steps[1].step_s, 4);  // the later line supersedes
  EXPECT_EQ(run.steps[1].loader_stall_s, 0.5);
  EXPECT_EQ(run.unreadable_lines, 0);
}

TEST(RunRecord, ATornLastLineIsPassedOver) {
  const RunRecord run = read(line(1, 9) + line(2, 3) + "{\"step\":3,\"step_s\":0.0");
  EXPECT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.unreadable_lines, 1);
  EXPECT_EQ(read(line(1, 1) + "[1]\nnull\n{\"step\":\"2\"}\n{\"step\":2}\n{\"step\":-1,\"step_s\":1}\n")
                .unreadable_lines,
            5);
}

TEST(RunRecord, WithoutStepsItIsRefused) {
  for (const std::string metrics : {"", "{\"step\":1", "a,b\n1,2\n"}) {
    try {
      read(metrics);
      ADD_FAILURE() << metrics;
    } catch (const UserError& error) {
      EXPECT_STREQ(
          error.what(),
          "runs/a/metrics.jsonl has no steps of a run: let it do a few, or give the folder of another run");
    }
  }
}

TEST(RunRecord, TheLogSaysWhereProcessesBeganAndWhatTheyAllocated) {
  const RunRecord run =
      read(line(1, 1),
           "t info memory: one arena of 100 bytes (0.0 MB); at its peak 0.0 MB: master 0.0\n"
           "t info resumed from runs/a/checkpoints/step-00000040: step 40, 1234 tokens seen\n"
           "t info memory: one arena of 66295104 bytes (66.3 MB); at its peak 66.3 MB: x\n");
  EXPECT_EQ(run.arena_bytes, 66295104);
  EXPECT_EQ(run.first_steps, (std::set<int64_t>{1, 41}));
  EXPECT_FALSE(
      read(line(1, 1), "t info memory: one arena of 66.3 MB; at its peak\n").arena_bytes.has_value());
}

TEST(UsualStep, MediansWithoutFirstAndUnusualSteps) {
  const std::string log = "t info resumed from a: step 4, 1 tokens seen\n";
  const std::string metrics =
      line(1, 90) + line(2, 2) + line(3, 50) + line(4, 4) + line(5, 80) + line(6, 6) + line(7, 10);
  const UsualStep usual = usual_step(read(metrics, log), {3});
  EXPECT_EQ(usual.steps, 4);
  EXPECT_EQ(usual.step_s, 5);
  EXPECT_EQ(usual.exposed_comm_s, 0.5);
  EXPECT_EQ(usual.loader_stall_s, 0.5);
  EXPECT_EQ(usual_step(read(metrics, log), {}).step_s, 6);  // the middle of 2 4 6 10 50
}

TEST(UsualStep, AFirstStepIsBetterThanNone) {
  const UsualStep usual = usual_step(read(line(1, 7)), {});
  EXPECT_EQ(usual.steps, 1);
  EXPECT_EQ(usual.step_s, 7);
}

TEST(UsualStep, SavesByTheirOwnNumber) {
  const UsualStep usual = usual_step(read(line(1, 7, ",\"ckpt_blocked_s\":0,\"ckpt_bytes\":0") +
                                          line(2, 7, ",\"ckpt_blocked_s\":2,\"ckpt_bytes\":8") +
                                          line(3, 7, ",\"ckpt_blocked_s\":4,\"ckpt_bytes\":8")),
                                     {});
  EXPECT_EQ(usual.saves, 2);
  EXPECT_EQ(usual.blocked_s, 3);
}

}  // namespace
}  // namespace trireme
