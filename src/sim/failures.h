// What failures cost a run. Ranks wait for each other in every step, so the failure of one stops all; they
// start again from the last checkpoint that was complete, and do again what came after it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "config/run_spec.h"
#include "ir/program.h"
#include "sim/price.h"

namespace trireme {

struct RunFailure {
  int64_t step = 0;             // that is running then, counted from 1; all of it is lost
  double restart_s = 0;         // until the ranks run again
  std::optional<int32_t> rank;  // whose it is, where that is said
};

// A run whose steps and saves all take the same time.
struct RunShape {
  int64_t steps = 1;
  double step_s = 0;
  int64_t steps_per_save = 0;  // 0: saved only at the end
  double blocked_s = 0;        // for which steps wait in a save
  double committed_s = 0;      // from a save's begin until it is complete; at least blocked_s
};

// Of every rank at once, from checkpoint.* and the hardware's rates: a step waits for a copy in memory, or
// where checkpoint.async is off for the store. A hardware without a rate: that part takes no time.
RunShape shape_of_run(const RunSpec& spec, std::span<const Program> programs, const Cluster& cluster,
                      double step_s);

struct RunTime {
  double steps_s = 0;  // the run's own steps, each once
  double saves_s = 0;  // for which they waited
  double lost_s = 0;   // done again: steps, and waits for their saves
  double restarts_s = 0;
  double total_s() const { return steps_s + saves_s + lost_s + restarts_s; }
  double goodput() const { return steps_s / total_s(); }  // of the time, what the steps themselves take
};

RunTime time_of_run(const RunShape& run);
// With these failures, in any order; each comes when its step runs for the first time, or again right after
// the one before.
RunTime time_of_run(const RunShape& run, std::span<const RunFailure> failures);

// Failures that come at random, one of all ranks per mtbf_s on average.
struct FailureRate {
  double mtbf_s = 0;
  double restart_s = 0;
};
// Of a run that saves for save_s after each work_s.
struct SaveCycle {
  double work_s = 0;  // tau
  double save_s = 0;  // delta
};
// Expected wall clock over work, with M = mtbf_s and R = restart_s: M e^(R/M) (e^((tau + delta)/M) - 1) /
// tau, Daly 2006, "A higher order estimate of the optimum checkpoint interval for restart dumps". Infinite
// where hardly a cycle comes to its end.
double expected_slowdown(const SaveCycle& cycle, const FailureRate& rate);
// The mean: as many times what the steps take.
double expected_run_s(const RunShape& run, const FailureRate& rate);

}  // namespace trireme
