// Young's and Daly's intervals against Daly's own examples, and what is expected against a simulation.
#include "plan/calculators/save_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/message.h"

namespace trireme {
namespace {

constexpr double kMinute = 60, kHour = 3600;

// Figures 3 to 5 of the paper: delta = 5 min, R = 10 min, and its optimum as it states it.
TEST(SaveInterval, OfDalysExamples) {
  const auto minutes = [](double mtbf_s) {
    return daly_interval({.mtbf_s = mtbf_s, .save_s = 5 * kMinute, .restart_s = 10 * kMinute}) / kMinute;
  };
  EXPECT_NEAR(minutes(24 * kHour), 117, 0.5);
  EXPECT_NEAR(minutes(6 * kHour), 57, 0.5);
  EXPECT_NEAR(minutes(15 * kMinute), 9.1, 0.05);
}

TEST(SaveInterval, OfYoung) {
  EXPECT_DOUBLE_EQ(young_interval({.mtbf_s = 50000, .save_s = 16}), std::sqrt(2.0 * 16 * 50000));
  EXPECT_DOUBLE_EQ(run_mtbf(50000 * kHour, 1024), 50000 * kHour / 1024);
}

TEST(SaveInterval, IsTheMtbfWhereASaveTakesTwiceAsLong) {
  EXPECT_EQ(daly_interval({.mtbf_s = 100, .save_s = 200}), 100);
  EXPECT_EQ(daly_interval({.mtbf_s = 100, .save_s = 900}), 100);
}

// Daly's is the best of all intervals, to the accuracy of its series.
TEST(SaveInterval, OfDalyIsBest) {
  for (const double mtbf_s : {1000.0, 20000.0, 1e6}) {
    const Failures failures{.mtbf_s = mtbf_s, .save_s = 60, .restart_s = 300};
    const double best = daly_interval(failures), goodput = expected_at(best, failures).goodput;
    for (double tau = best / 8; tau < 8 * best; tau *= 1.05)
      EXPECT_LE(expected_at(tau, failures).goodput, goodput + 1e-4) << tau;
    EXPECT_GE(goodput, expected_at(young_interval(failures), failures).goodput);
  }
}

TEST(SaveInterval, ExpectsWhatASimulatedRunMeets) {
  const Failures failures{.mtbf_s = 2000, .save_s = 40, .restart_s = 150};
  const double tau = 500;
  std::mt19937_64 random(7);
  std::exponential_distribution<double> until_failure(1 / failures.mtbf_s);
  double wall_s = 0, lost_work_s = 0;
  int64_t failed = 0;
  constexpr int kIntervals = 200000;
  for (int i = 0; i < kIntervals; ++i)
    for (;;) {
      double failure_s = until_failure(random);
      if (failure_s >= tau + failures.save_s) break;
      wall_s += failure_s;
      lost_work_s += failure_s;
      ++failed;
      while ((failure_s = until_failure(random)) < failures.restart_s) wall_s += failure_s;
      wall_s += failures.restart_s;
    }
  wall_s += kIntervals * (tau + failures.save_s);
  const Expected expected = expected_at(tau, failures);
  EXPECT_NEAR(expected.goodput, kIntervals * tau / wall_s, 0.005);
  EXPECT_NEAR(expected.saving, kIntervals * failures.save_s / wall_s, 0.001);
  EXPECT_NEAR(expected.lost, 1 - kIntervals * (tau + failures.save_s) / wall_s, 0.005);
  EXPECT_NEAR(expected.lost_work_s, lost_work_s / static_cast<double>(failed), 3);
}

TEST(SaveInterval, LostWorkIsHalfAnIntervalWhereFailuresAreRare) {
  const Failures rare{.mtbf_s = 1e9, .save_s = 1};
  EXPECT_NEAR(expected_at(1000, rare).lost_work_s, 500.5, 0.01);
  EXPECT_NEAR(expected_at(1e5 + 1, rare).lost_work_s, 50001, 2);
}

TEST(SaveInterval, AnswerHasBothAndOnesOwn) {
  const Answer answer = save_interval(
      {.unit_mtbf_s = 50000 * kHour, .units = 1024, .save_s = 30, .restart_s = 600, .own_interval_s = 7200});
  for (const char* key : {"mtbf", "young_interval", "young_goodput", "young_lost_work", "daly_interval",
                          "daly_goodput", "daly_lost", "own_goodput"})
    EXPECT_NE(find_result(answer, key), nullptr) << key;
  EXPECT_LT(find_result(answer, "own_goodput")->value, find_result(answer, "daly_goodput")->value);
  EXPECT_EQ(find_result(answer, "young_interval")->numbers, "sqrt(2 * 30 * 175781)");
  // Failures about as often as restarts.
  const Answer hopeless = save_interval({.unit_mtbf_s = 4800, .units = 8, .save_s = 30, .restart_s = 600});
  EXPECT_NE(hopeless.notes.back().find("More than half of the time"), std::string::npos);
  EXPECT_EQ(
      message_of(
          [] { save_interval({.unit_mtbf_s = 3600, .units = 100000, .save_s = 30, .restart_s = 600}); }),
      "--devices 100000: a failure comes every 0.036 s, so that saves of 30 s and restarts of 10 min hardly "
      "ever come to their end and the run would not get on; use fewer devices, or shorten --save and "
      "--restart");
}

}  // namespace
}  // namespace trireme
