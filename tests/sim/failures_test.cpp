// Failures of runs with round numbers, counted by hand.
#include "sim/failures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme {
namespace {

// 100 steps of 10 s; every 20 a save for which steps wait 1 s and which is complete after 5.
constexpr RunShape kRun{.steps = 100, .step_s = 10, .steps_per_save = 20, .blocked_s = 1, .committed_s = 5};

TEST(Failures, NoneCostsTheStepsAndTheSaves) {
  const RunTime time = time_of_run(kRun);
  EXPECT_EQ(time.steps_s, 1000);
  EXPECT_EQ(time.saves_s, 4 * 1 + 5);  // the run waits for the whole of the last one
  EXPECT_EQ(time.total_s(), 1009);
  EXPECT_EQ(time_of_run({.steps = 100, .step_s = 10, .committed_s = 5}).total_s(), 1005);
}

TEST(Failures, WhatCameAfterTheLastCheckpointIsDoneAgain) {
  const Failure failure{.step = 55, .restart_s = 300};
  const RunTime time = time_of_run(kRun, std::span(&failure, 1));
  EXPECT_EQ(time.lost_s, 15 * 10);  // steps 41 to 55
  EXPECT_EQ(time.restarts_s, 300);
  EXPECT_EQ(time.total_s(), 1009 + 150 + 300);
  EXPECT_EQ(time.goodput(), 1000.0 / 1459);
}

TEST(Failures, ASaveThatIsNotCompleteIsOfNoUse) {
  RunShape run = kRun;
  run.committed_s = 25;
  const Failure soon{.step = 42, .restart_s = 0};  // 21 s after the save of step 40 began
  EXPECT_EQ(time_of_run(run, std::span(&soon, 1)).lost_s, 22 * 10 + 1);
  const Failure later{.step = 43, .restart_s = 0};
  EXPECT_EQ(time_of_run(run, std::span(&later, 1)).lost_s, 3 * 10);
}

TEST(Failures, BeforeTheFirstSaveAllIsLost) {
  const Failure early{.step = 20, .restart_s = 0};  // its save comes behind it
  EXPECT_EQ(time_of_run(kRun, std::span(&early, 1)).lost_s, 200);
  const Failure last{.step = 100, .restart_s = 0};
  EXPECT_EQ(time_of_run({.steps = 100, .step_s = 10}, std::span(&last, 1)).lost_s, 1000);
}

TEST(Failures, SeveralInAnyOrder) {
  const Failure failures[] = {
      {.step = 55, .restart_s = 30}, {.step = 15, .restart_s = 60}, {.step = 55, .restart_s = 1}};
  const RunTime time = time_of_run(kRun, failures);
  EXPECT_EQ(time.lost_s, 150 + 150 + 150);
  EXPECT_EQ(time.restarts_s, 91);
}

TEST(Failures, AtRandomAsDalyHasIt) {
  const double m = 5000, r = 100, tau = 200, delta = 1;
  EXPECT_NEAR(expected_run_s(kRun, {m, r}),
              m * std::exp(r / m) * (std::exp((tau + delta) / m) - 1) * 1000 / tau, 1e-9);
  // Rare ones cost nothing beside the saves.
  EXPECT_NEAR(expected_run_s(kRun, {1e12, r}), 1000 + 5, 1e-3);
  EXPECT_GT(expected_run_s(kRun, {10, r}), 1e9);
}

}  // namespace
}  // namespace trireme
