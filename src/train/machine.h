// The machine a run sees: its cores, its device, its peak.
#pragma once
#include <memory>

#include "config/run_spec.h"
#include "device/device.h"

namespace trireme {

// run.threads, or as many cores as this process may use.
int thread_count(const RunSpec& spec);

// The device that run.device names.
std::unique_ptr<Device> open_device(const RunSpec& spec, int threads);

struct Peak {
  double flops_per_s = 0;  // 0: unknown, MFU is n/a
  bool measured = false;
};

// run.peak_flops, or on the cpu a short matrix product in the run's compute dtype, measured now.
Peak peak_flops(const RunSpec& spec, int threads);

// Resident memory of this process, bytes.
int64_t resident_bytes();

}  // namespace trireme
