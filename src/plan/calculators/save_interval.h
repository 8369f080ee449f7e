// How often to save: from failures (or preemptions), the cost of a save and of a restart.
#pragma once
#include <cstdint>

#include "plan/calculators/worked.h"

namespace trireme {

// Failures come as a Poisson process: independent, at a constant rate.
struct Failures {
  double mtbf_s = 0;     // M: mean time between failures of the whole run
  double save_s = 0;     // delta: how long a save stops the run
  double restart_s = 0;  // R: from a failure until the run goes on where the last save left it
};

// Of `units` that fail alone, each after a mean of unit_mtbf_s: M = unit_mtbf_s / units.
double run_mtbf(double unit_mtbf_s, int64_t units);

double young_interval(const Failures& failures);  // Young 1974: sqrt(2 delta M)
// Daly 2006, the higher-order estimate: sqrt(2 delta M) [1 + 1/3 sqrt(delta/2M) + 1/9 (delta/2M)] - delta; M
// where delta is 2 M or more.
double daly_interval(const Failures& failures);

// What is to be expected of work in intervals of `interval_s` between saves. goodput + saving + lost = 1.
struct Expected {
  double goodput = 0;      // share of the wall clock that counts: T_s / T_w of Daly 2006
  double saving = 0;       // share in saves that were of use
  double lost = 0;         // share in work done again and in restarts
  double lost_work_s = 0;  // per failure: since the last save
};
Expected expected_at(double interval_s, const Failures& failures);
// Wall clock over failure-free work, T_w / T_s (expected_slowdown in sim/failures.h); infinite where failures
// come too often for any progress.
double slowdown(double interval_s, const Failures& failures);

struct IntervalInput {
  double unit_mtbf_s = 0;
  int64_t units = 1;
  double save_s = 0, restart_s = 0;
  double own_interval_s = 0;  // to be judged beside the two; 0: none
};
// UserError where failures come too often for any progress. Keys "mtbf" and "failures_per_day", then
// "young_*" and "daly_*" (and "own_*"): interval, goodput, saving, lost, lost_work.
Answer save_interval(const IntervalInput& input);

}  // namespace trireme
