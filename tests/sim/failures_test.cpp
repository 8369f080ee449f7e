// Failures of runs with round numbers, counted by hand.
#include "sim/failures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/state_boxes.h"
#include "sim/small_run.h"

namespace trireme {
namespace {

// 100 steps of 10 s; every 20 a save for which steps wait 1 s and which is complete after 5.
constexpr RunShape kRun{.steps = 100, .step_s = 10, .steps_per_save = 20, .blocked_s = 1, .committed_s = 5};

RunShape shape(const std::string& checkpoint, double step_s) {
  const RunSpec spec = small_run("dp_shard = 2", {.sequences = 2, .steps = 500, .checkpoint = checkpoint});
  Hardware hardware = round_hardware();
  const Cluster cluster = cluster_on(hardware, 2, 1);
  const std::vector<Program> programs = pipeline_programs(spec, compile_options(spec, cluster));
  // In units of what a rank writes: 4 s to copy it, and 2 ranks x 8 s to the store.
  const auto bytes = static_cast<double>(3 * 4 * written_elements(programs[0]));
  hardware.host_bytes_per_s = bytes / 4;
  hardware.store_bytes_per_s = bytes / 8;
  return shape_of_run(spec, programs, cluster, step_s);
}

TEST(RunShape, SavesByTheHardwaresRates) {
  const RunShape async = shape("every_steps = 50", 1);
  EXPECT_EQ(async.steps, 500);
  EXPECT_EQ(async.steps_per_save, 50);
  EXPECT_EQ(async.blocked_s, 4);
  EXPECT_EQ(async.committed_s, 4 + 16);
  const RunShape in_place = shape("every_steps = 50\nasync = false", 1);
  EXPECT_EQ(in_place.blocked_s, 16);
  EXPECT_EQ(in_place.committed_s, 16);
}

TEST(RunShape, ASaveWaitsForTheOneBefore) { EXPECT_EQ(shape("every_steps = 5", 1).blocked_s, 20 - 5); }

TEST(RunShape, MinutesAreStepsOfTheClock) {
  EXPECT_EQ(shape("every_steps = 0\nevery_minutes = 2", 7).steps_per_save, 18);
  EXPECT_EQ(shape("every_steps = 10\nevery_minutes = 2", 7).steps_per_save, 10);
  EXPECT_EQ(shape("every_steps = 0", 7).steps_per_save, 0);
}

TEST(Failures, NoneCostsTheStepsAndTheSaves) {
  const RunTime time = time_of_run(kRun);
  EXPECT_EQ(time.steps_s, 1000);
  EXPECT_EQ(time.saves_s, 4 * 1 + 5);  // the run waits for the whole of the last one
  EXPECT_EQ(time.total_s(), 1009);
  EXPECT_EQ(time_of_run({.steps = 100, .step_s = 10, .committed_s = 5}).total_s(), 1005);
}

TEST(Failures, WhatCameAfterTheLastCheckpointIsDoneAgain) {
  const RunFailure failure{.step = 55, .restart_s = 300};
  const RunTime time = time_of_run(kRun, std::span(&failure, 1));
  EXPECT_EQ(time.lost_s, 15 * 10);  // steps 41 to 55
  EXPECT_EQ(time.restarts_s, 300);
  EXPECT_EQ(time.total_s(), 1009 + 150 + 300);
  EXPECT_EQ(time.goodput(), 1000.0 / 1459);
}

TEST(Failures, ASaveThatIsNotCompleteIsOfNoUse) {
  RunShape run = kRun;
  run.committed_s = 25;
  const RunFailure soon{.step = 42, .restart_s = 0};  // 21 s after the save of step 40 began
  EXPECT_EQ(time_of_run(run, std::span(&soon, 1)).lost_s, 22 * 10 + 1);
  const RunFailure later{.step = 43, .restart_s = 0};
  EXPECT_EQ(time_of_run(run, std::span(&later, 1)).lost_s, 3 * 10);
}

TEST(Failures, BeforeTheFirstSaveAllIsLost) {
  const RunFailure early{.step = 20, .restart_s = 0};  // its save comes behind it
  EXPECT_EQ(time_of_run(kRun, std::span(&early, 1)).lost_s, 200);
  const RunFailure last{.step = 100, .restart_s = 0};
  EXPECT_EQ(time_of_run({.steps = 100, .step_s = 10}, std::span(&last, 1)).lost_s, 1000);
}

TEST(Failures, SeveralInAnyOrder) {
  const RunFailure failures[] = {
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
