// What a step of so many seconds is as throughput.
#pragma once
#include "config/run_spec.h"
#include "sim/price.h"

namespace trireme {

struct StepRates {
  double tokens_per_s = 0;  // of all ranks
  double mfu = 0;  // model FLOPs (model/flops.h) of the dense peak in the run's compute dtype; 0: no peak
};

StepRates rates_of(const RunSpec& spec, const Cluster& cluster, double step_s);

// FLOP/s, dense, of all the run's devices; on a cpu of the cores that its ranks have.
double peak_flops_of(const RunSpec& spec, const Cluster& cluster);

}  // namespace trireme
