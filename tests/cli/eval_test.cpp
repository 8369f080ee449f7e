// `trireme eval` and `trireme generate` on a run: the number that training wrote, whatever the micro-batch;
// text that depends on the seed alone.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

// The value after a label of `trireme eval`.
double value(const Outcome& outcome, const std::string& label) {
  for (const std::string& line : lines_of(outcome.out))
    if (line.starts_with(label)) return std::stod(line.substr(label.size()));
  ADD_FAILURE() << label << " is not in " << outcome.out << outcome.err;
  return 0;
}

class RunTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tiny_ = std::make_unique<TinyRun>();
    const Outcome outcome = tiny_->train({{"precision.compute", "fp32"}, {"run.steps", "30"}});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { tiny_.reset(); }
  static std::unique_ptr<TinyRun> tiny_;  // one run serves all
};
std::unique_ptr<TinyRun> RunTest::tiny_;

using EvalTest = RunTest;
using GenerateTest = RunTest;

TEST_F(EvalTest, IsTheValidationLossOfTheRun) {
  const double logged = std::stod(tiny_->metric("tiny", "val_loss").at(30));
  const Outcome of_run = tiny_->run({"eval", "runs/tiny"});
  ASSERT_EQ(of_run.exit_code, 0) << of_run.err;
  EXPECT_NEAR(value(of_run, "loss"), logged, 5e-7);  // printed with six decimals
  EXPECT_EQ(value(of_run, "sequences"), 5);
  EXPECT_EQ(value(of_run, "counted tokens"), 5 * 64);
  const Outcome of_config = tiny_->run({"eval", "config.toml", "--set", "precision.compute=fp32"});
  EXPECT_EQ(of_config.out, of_run.out) << of_config.err;
  EXPECT_EQ(tiny_->run({"eval", "runs/tiny/checkpoints/step-00000030"}).out, of_run.out);
  EXPECT_EQ(tiny_->run({"eval", "runs/tiny"}).out, of_run.out);
}

// The last micro-batch is not full for 2, 3 and 4.
TEST_F(EvalTest, DoesNotDependOnTheMicroBatch) {
  const double logged = std::stod(tiny_->metric("tiny", "val_loss").at(30));
  for (const char* micro : {"1", "2", "4"}) {
    const Outcome outcome = tiny_->run({"eval", "runs/tiny", "--set", std::string("batch.micro=") + micro});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NEAR(value(outcome, "loss"), logged, 2e-6) << micro;
    EXPECT_EQ(value(outcome, "counted tokens"), 5 * 64);
  }
}

// Each id but the end of a document is one byte here: bits per byte = nats / ln 2 * tokens / bytes.
TEST_F(EvalTest, BitsPerByteCountTheBytesOfTheTargets) {
  const std::string shard = test::slurp(*tiny_ / "shards/val.u16");
  int64_t bytes = 0;
  for (size_t i = 1; i <= 5 * 64; ++i) bytes += shard[2 * i + 1] == 0;
  ASSERT_LT(bytes, 5 * 64);
  const Outcome outcome = tiny_->run({"eval", "runs/tiny"});
  EXPECT_NEAR(value(outcome, "bits per byte"),
              value(outcome, "loss") / std::log(2.0) * 5 * 64 / static_cast<double>(bytes), 5e-6);
}

// Steps 24 and 28 are saved; 24 was also evaluated by the run.
TEST_F(EvalTest, OfEveryEarlierStepToo) {
  const Outcome evaluated = tiny_->run({"eval", "runs/tiny/checkpoints/step-00000024"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_NEAR(value(evaluated, "loss"), std::stod(tiny_->metric("tiny", "val_loss").at(24)), 5e-7);
  const Outcome other = tiny_->run({"eval", "runs/tiny/checkpoints/step-00000028"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
}

TEST_F(GenerateTest, SameSeedSameText) {
  const Arguments base = {"generate", "runs/tiny", "--prompt", "ab", "--tokens", "40"};
  const auto with = [&](const Arguments& more) {
    Arguments arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = tiny_->run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(outcome.out.starts_with("ab")) << outcome.out;
    return outcome.out;
  };
  EXPECT_EQ(with({"--seed", "3"}), with({"--seed", "3"}));
  EXPECT_NE(with({"--seed", "3"}), with({"--seed", "4"}));
  EXPECT_EQ(with({"--top-k", "1", "--seed", "3"}), with({"--temperature", "0"}));
  EXPECT_EQ(with({"--top-p", "0", "--seed", "3"}), with({"--temperature", "0"}));
  EXPECT_EQ(with({"--temperature", "1e-9", "--seed", "3"}), with({"--temperature", "0"}));
}

TEST_F(GenerateTest, ThePromptMayFillTheContextButNotMore) {
  const Outcome full = tiny_->run({"generate", "runs/tiny", "--prompt", std::string(64, 'a')});
  EXPECT_EQ(full.exit_code, 0) << full.err;
  EXPECT_TRUE(full.out.starts_with(std::string(64, 'a')));
  const Outcome over = tiny_->run({"generate", "runs/tiny", "--prompt", std::string(65, 'a')});
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_EQ(over.out, "");
  EXPECT_NE(over.err.find("65 tokens, but model.context = 64"), std::string::npos) << over.err;
  // As many tokens as are asked for, at most to the end of the context: one byte each, and a newline.
  const Outcome five = tiny_->run({"generate", "runs/tiny", "--prompt", "a", "--tokens", "5"});
  EXPECT_LE(five.out.size(), 7u);
  const Outcome empty = tiny_->run({"generate", "runs/tiny", "--prompt", "", "--tokens", "5"});
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
}

TEST(Generate, WithoutATokenizerSaysSo) {
  const TinyRun tiny;
  std::string config = test::slurp(tiny / "config.toml");
  config.replace(config.find("tokenizer = \"tokenizer.json\"\n"), 29, "");
  write_bytes(tiny / "config.toml", config);
  ASSERT_EQ(tiny.train({{"run.steps", "2"}}).exit_code, 0);
  const Outcome outcome = tiny.run({"generate", "runs/tiny", "--prompt", "a"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("data.tokenizer"), std::string::npos) << outcome.err;
  EXPECT_NE(tiny.run({"eval", "runs/tiny"}).out.find("n/a"), std::string::npos);
}

}  // namespace
}  // namespace trireme
