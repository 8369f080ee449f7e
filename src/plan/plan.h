// What a run needs and how fast it is on a hardware: its Programs compiled, their memory plans read and a
// step replayed (sim/simulate.h). No device is touched.
#pragma once
#include <cstdint>
#include <vector>

#include "config/run_spec.h"
#include "plan/rank_memory.h"
#include "sim/simulate.h"

namespace trireme {

struct Plan {
  RunSpec spec;
  Cluster cluster;                 // its hardware must outlive the plan
  std::vector<RankMemory> memory;  // by rank of the pipeline, those of data-parallel index 0
  StepSimulation step;
  int64_t parameters = 0;       // of the model
  double model_flops = 0;       // of a step, all ranks: what MFU counts (model/flops.h)
  double executed_flops = 0;    // likewise, recomputation too: what HFU counts
  double peak_flops_per_s = 0;  // of the devices that have ranks
  int64_t devices = 1;  // rented: of a single node of GPUs those that have ranks, else all of the nodes'

  int64_t room_bytes() const { return cluster.share.memory_bytes; }  // for an arena
  const RankMemory& fullest() const;
  int64_t missing_bytes() const;  // of the fullest rank's arena; 0 or less: it fits
  bool fits() const { return missing_bytes() <= 0; }

  double step_s() const { return step.step_s; }
  double tokens_per_s() const;
  double mfu() const;
  double hfu() const;
  double run_tokens() const;
  double run_hours() const;
  double device_hours() const;
};

// Of the spec's ranks on so many nodes. UserError where they do not fit them, or the schedule not the batch.
Plan make_plan(const RunSpec& spec, const Hardware& hardware, int64_t nodes);

// What is rented for so many ranks, as Plan::devices.
int64_t rented_devices(const Hardware& hardware, int64_t ranks, int64_t nodes);

// The fewest nodes that have devices for so many ranks, as many on each where that leaves less than half of
// them idle; 1 of a cpu, whose ranks share cores.
int64_t least_nodes(const Hardware& hardware, int64_t ranks);

}  // namespace trireme
