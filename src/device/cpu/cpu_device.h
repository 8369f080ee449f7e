// The CPU as a Device: an arena of huge pages, kernels from device/cpu/table.cpp, everything done when a call
// returns.
#pragma once
#include <memory>

#include "device/cpu/isa.h"
#include "device/device.h"

namespace trireme {

struct CpuDeviceOptions {
  int threads = 1;            // of this rank
  CpuIsa isa = detect_isa();  // less in tests
};

std::unique_ptr<Device> make_cpu_device(const CpuDeviceOptions& options);

}  // namespace trireme
