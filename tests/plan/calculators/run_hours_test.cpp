// The equation and its inversions.
#include "plan/calculators/run_hours.h"

#include <gtest/gtest.h>

#include "plan/message.h"

namespace trireme {
namespace {

HoursInput run_of(double parameters, double peak) {
  return {.flops = token_flops(ModelSizes{.parameters = parameters}), .peak = {peak, "peak"}};
}

TEST(RunHours, OfTwoKnownRuns) {
  HoursInput small = run_of(1e9, 312e12);  // A100, bf16 dense
  small.tokens = 100e9;
  small.devices = 8;
  small.mfu = 0.4;
  EXPECT_NEAR(find_result(run_hours(small), "hours")->value, 167, 0.5);
  HoursInput large = run_of(7e9, 989e12);  // H100 SXM, bf16 dense, at 40 %
  large.tokens = 1e12;
  large.devices = 64;
  large.mfu = 0.4;
  const Answer answer = run_hours(large);
  EXPECT_NEAR(find_result(answer, "hours")->value, 461, 0.5);
  EXPECT_EQ(find_result(answer, "hours")->numbers, "6 * 7e9 * 1e12 / (64 * 989e12 * 0.4 * 3600)");
  EXPECT_NEAR(find_result(answer, "gpu_hours")->value, 64 * 460.8, 64 * 0.05);
}

TEST(RunHours, AnswersWhateverIsMissing) {
  HoursInput input = run_of(7e9, 989e12);
  input.tokens = 1e12;
  input.devices = 64;
  input.mfu = 0.4;
  input.hours = find_result(run_hours(input), "hours")->value;
  HoursInput asks = input;
  asks.mfu.reset();
  EXPECT_NEAR(find_result(run_hours(asks), "mfu")->value, 0.4, 1e-12);
  asks = input;
  asks.devices.reset();
  EXPECT_EQ(find_result(run_hours(asks), "gpus")->value, 64);
  asks.hours = *input.hours * 0.99;
  EXPECT_EQ(find_result(run_hours(asks), "gpus")->value, 65);
  asks = input;
  asks.tokens.reset();
  EXPECT_NEAR(find_result(run_hours(asks), "tokens")->value, 1e12, 1);
  EXPECT_EQ(find_result(run_hours(asks), "tokens")->formula, "GPUs * peak * MFU * hours * 3600 / (6 * N)");
}

TEST(RunHours, RefusesTheImpossibleAndTheUnclear) {
  HoursInput input = run_of(7e9, 989e12);
  input.tokens = 1e12;
  input.devices = 64;
  input.hours = 100;
  EXPECT_EQ(
      message_of([&] { run_hours(input); }),
      "--hours 100: it would take an MFU of 184.3 %, and more than 100 % is impossible; 64 GPUs at their "
      "peak need at least 184.3 h");
  input.mfu = 0.4;
  EXPECT_EQ(message_of([&] { run_hours(input); }),
            "--tokens, --gpus, --mfu and --hours are all given; leave out the one that is asked for");
  input.mfu.reset();
  input.devices.reset();
  EXPECT_EQ(
      message_of([&] { run_hours(input); }),
      "--gpus and --mfu are not given; give all of --tokens, --gpus, --mfu and --hours but the one that is "
      "asked for");
  input.mfu = 0.4;
  input.hours = 1e-12;
  EXPECT_NE(message_of([&] { run_hours(input); }).find("--hours 1e-12: it would take"), std::string::npos);
}

}  // namespace
}  // namespace trireme
