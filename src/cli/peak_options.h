// The options that say what a device's peak is: --device and --dtype, or --peak.
#pragma once
#include <optional>
#include <string>

#include "cli/command.h"
#include "plan/calculators/utilization.h"

namespace trireme::cli {

struct PeakOptions {
  std::optional<std::string> device, peak;
  std::string dtype = "bf16";
};

void add_peak_options(CLI::App& command, PeakOptions& options);

// UserError when neither or both are given, for an unknown device (with the nearest name) or dtype, and where
// the device has no units for the dtype.
PeakRate read_peak(const PeakOptions& options);

}  // namespace trireme::cli
