// What the loop does with a batch, a learning rate and a bad step: one number whatever the micro-batch.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

double number(const std::string& text) { return std::stod(text); }

TEST(Loop, TheMicroBatchChangesNoNumber) {
  const TinyRun tiny;
  Settings settings = {{"batch.sequences", "8"}, {"run.steps", "10"}, {"precision.compute", "fp32"}};
  for (const char* micro : {"8", "4", "2", "1"}) {
    settings["batch.micro"] = micro;
    settings["run.name"] = std::string("micro-") + micro;
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
  }
  const auto loss = tiny.metric("micro-8", "loss"), norm = tiny.metric("micro-8", "grad_norm");
  ASSERT_EQ(loss.size(), 10u);
  EXPECT_NEAR(number(loss.at(1)), std::log(257.0), 0.01 * std::log(257.0));
  for (const char* other : {"micro-4", "micro-2", "micro-1"}) {
    SCOPED_TRACE(other);
    for (int64_t step = 1; step <= 10; ++step) {
      EXPECT_NEAR(number(tiny.metric(other, "loss").at(step)), number(loss.at(step)),
                  1e-4 * number(loss.at(step)));
      EXPECT_NEAR(number(tiny.metric(other, "grad_norm").at(step)), number(norm.at(step)),
                  1e-4 * number(norm.at(step)));
    }
    for (const char* same : {"lr", "tokens_seen", "counted_tokens"})
      EXPECT_EQ(tiny.metric(other, same), tiny.metric("micro-8", same)) << same;
    EXPECT_EQ(test::slurp(tiny.run_folder(other) + "/samples.jsonl"),
              test::slurp(tiny.run_folder("micro-8") + "/samples.jsonl"));
  }
}

// Documents leave rows with different counts of targets, so that a mean of micro-batch means would show.
TEST(Loop, TheLossIsOverTheCountedTokensOfTheWholeStep) {
  const TinyRun tiny;
  Settings settings = {{"batch.sequences", "8"},
                       {"run.steps", "4"},
                       {"precision.compute", "fp32"},
                       {"data.packing", "document"},
                       {"eval.every_steps", "4"}};
  for (const char* micro : {"8", "1"}) {
    settings["batch.micro"] = micro;
    settings["run.name"] = std::string("micro-") + micro;
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
  }
  for (int64_t step = 1; step <= 4; ++step) {
    EXPECT_LT(number(tiny.metric("micro-1", "counted_tokens").at(step)), 512);
    const double loss = number(tiny.metric("micro-8", "loss").at(step));
    EXPECT_NEAR(number(tiny.metric("micro-1", "loss").at(step)), loss, 2e-6 * loss);
  }
}

TEST(Loop, ThreadsChangeNoBit) {
  const TinyRun tiny;
  for (const char* compute : {"bf16", "fp32"}) {
    Settings settings = {{"precision.compute", compute}, {"run.steps", "5"}};
    settings["run.name"] = std::string(compute) + "-1";
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
    settings["run.name"] = std::string(compute) + "-2";
    settings["run.threads"] = "2";
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
    EXPECT_EQ(tiny.fingerprint(std::string(compute) + "-1"), tiny.fingerprint(std::string(compute) + "-2"));
  }
}

// Clipping off is the same run as one whose limit is never reached; the norm is from before clipping.
TEST(Loop, ClipZeroIsOff) {
  const TinyRun tiny;
  const std::vector<std::string> limits = {"0", "1e9", "0.5"};
  for (const std::string& clip : limits)
    ASSERT_EQ(tiny.train({{"optimizer.clip_norm", clip}, {"run.name", "clip-" + clip}}).exit_code, 0);
  EXPECT_EQ(tiny.fingerprint("clip-0"), tiny.fingerprint("clip-1e9"));
  EXPECT_NE(tiny.fingerprint("clip-0"), tiny.fingerprint("clip-0.5"));
  EXPECT_EQ(tiny.metric("clip-0", "grad_norm").at(1), tiny.metric("clip-0.5", "grad_norm").at(1));
  EXPECT_GT(number(tiny.metric("clip-0.5", "grad_norm").at(1)), 0.5);
}

// With this rate and decay the weights grow a millionfold a step, until every gradient is NaN or Inf.
TEST(Loop, BadStepsAreSkippedAndARunOfThemEndsTheRun) {
  const TinyRun tiny;
  const Settings hot = {{"run.steps", "60"},
                        {"optimizer.lr", "1e6"},
                        {"lr.kind", "constant"},
                        {"optimizer.weight_decay", "1.0"},
                        {"checkpoint.every_steps", "1"},
                        {"eval.every_steps", "0"},
                        {"run.max_skipped_steps", "5"}};
  const Outcome outcome = tiny.train(hot);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  const std::string last = lines_of(outcome.err).back();
  for (const char* word :
       {"trireme: 5 steps in a row", "run.max_skipped_steps = 5", "optimizer.lr = 1000000"})
    EXPECT_NE(last.find(word), std::string::npos) << last;

  const auto skipped = tiny.metric("tiny", "skipped"), total = tiny.metric("tiny", "skipped_steps");
  const auto steps = static_cast<int64_t>(skipped.size());
  ASSERT_GT(steps, 5);
  ASSERT_LT(steps, 60);
  for (int64_t step = 1; step <= steps; ++step)
    EXPECT_EQ(skipped.at(step), step > steps - 5 ? "true" : "false") << step;
  EXPECT_EQ(total.at(steps), "5");
  // The last skip is not saved; of the others it stands that they changed nothing.
  const std::vector<std::string> saved = tiny.checkpoints("tiny");
  ASSERT_EQ(saved.size(), 3u);
  EXPECT_TRUE(saved.back().ends_with(std::to_string(steps - 1))) << saved.back();
  const auto weights = [&](const std::string& name) {
    return test::slurp(tiny.run_folder("tiny") + "/checkpoints/" + name + "/rank-00000.safetensors");
  };
  EXPECT_EQ(weights(saved[0]), weights(saved[2]));
  EXPECT_EQ(tiny.run({"ckpt", "verify", "runs/tiny"}).exit_code, 0);
  // The count goes on over a resume: one more skip ends it again, at the same step.
  const std::string before = tiny.fingerprint("tiny");
  EXPECT_EQ(tiny.train(hot).exit_code, 2);
  EXPECT_EQ(tiny.fingerprint("tiny"), before);
}

TEST(Loop, MetricsAddUp) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train().exit_code, 0);
  const auto rate = tiny.metric("tiny", "tokens_per_s"), step_s = tiny.metric("tiny", "step_s");
  const auto mfu = tiny.metric("tiny", "mfu");
  // 6 N_matmul + 12 L C T: per block 12 C^2 of matrices, and the head's 257 C.
  const double flops = 6.0 * (2 * 12 * 64 * 64 + 257 * 64) + 12.0 * 2 * 64 * 64;
  for (int64_t step = 1; step <= 12; ++step) {
    EXPECT_NEAR(number(rate.at(step)) * number(step_s.at(step)), 256, 1e-6);
    EXPECT_NEAR(number(mfu.at(step)), flops * number(rate.at(step)) / 1e12, 1e-9);
  }
  // Evaluations every 3 steps; saves every 4, whose time stands with the next step.
  const auto eval_s = tiny.metric("tiny", "eval_s"), blocked_s = tiny.metric("tiny", "ckpt_blocked_s");
  for (int64_t step = 1; step <= 12; ++step) {
    EXPECT_EQ(number(eval_s.at(step)) > 0, step % 3 == 0) << step;
    EXPECT_EQ(number(blocked_s.at(step)) > 0, step == 5 || step == 9) << step;
  }
  // The null device computes nothing, and has no peak to be measured against.
  ASSERT_EQ(tiny.train({{"run.device", "null"}, {"run.name", "null"}, {"eval.every_steps", "0"}}).exit_code,
            0);
  EXPECT_EQ(lines_of(test::slurp(tiny.run_folder("null") + "/metrics.jsonl")).size(), 12u);
}

// No name of a file decides which one is read first.
TEST(Loop, ShardsAreReadInTheOrderOfTheirNames) {
  const TinyRun tiny;
  const std::string shard = test::slurp(tiny / "shards/train.u16");
  for (const int i : {3, 1, 2, 0})
    write_bytes(tiny / ("a b'/part_" + std::to_string(i) + ".u16"),
                shard.substr(static_cast<size_t>(i) * 2500, 2500));
  ASSERT_EQ(tiny.train().exit_code, 0);
  const Outcome parts = tiny.train({{"run.name", "parts"}, {"data.train", "[\"a b'/part_*.u16\"]"}});
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_EQ(tiny.fingerprint("parts"), tiny.fingerprint("tiny"));
  const size_t first = parts.err.find("part_0.u16");
  EXPECT_NE(first, std::string::npos);
  EXPECT_LT(first, parts.err.find("part_3.u16"));
}

}  // namespace
}  // namespace trireme
