// The machine a run sees: its cores, its device, its peak.
#pragma once
#include <memory>

#include "config/run_spec.h"
#include "device/device.h"

namespace trireme {

// run.threads, or as many cores as this process may use.
int thread_count(const RunSpec& spec);

struct CoreShare {
  int rank = 0, ranks = 1;
  int threads = 1;  // of all ranks together
};
// Binds the calling thread, and those that it starts, to its rank's cores, when the run takes all cores that
// this process may use and its ranks share them evenly; else does nothing.
void keep_to_share_of_cores(const CoreShare& share);

// The device that run.device names.
std::unique_ptr<Device> open_device(const RunSpec& spec, int threads);

struct Peak {
  double flops_per_s = 0;  // 0: unknown, MFU is n/a
  bool measured = false;
};

// run.peak_flops, or on the cpu a short matrix product in the run's compute dtype, measured now.
Peak peak_flops(const RunSpec& spec, int threads);

// Memory of the machine, bytes; 0: unknown.
int64_t machine_bytes();

// Seconds since this process began.
double process_age_s();

// Resident memory of this process, bytes.
int64_t resident_bytes();

}  // namespace trireme
