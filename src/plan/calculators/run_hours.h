// hours = F D / (GPUs x peak x MFU x 3600), and its inversions: whichever of hours, GPUs, MFU and tokens is
// not given.
#pragma once
#include <cstdint>
#include <optional>

#include "plan/calculators/token_flops.h"
#include "plan/calculators/utilization.h"
#include "plan/calculators/worked.h"

namespace trireme {

struct HoursInput {
  TokenFlops flops;  // 6 N, and attention's where it is known
  PeakRate peak;
  std::optional<double> tokens;  // D
  std::optional<int64_t> devices;
  std::optional<double> mfu;    // 0 to 1
  std::optional<double> hours;  // wall clock
};

// Exactly one of the four may be absent, and is answered: key "hours", "gpus" (whole: the fewest that keep to
// the hours), "mfu" or "tokens"; beside it "gpu_hours". UserError when none or several are absent, and when
// the MFU comes out at more than 100 %.
Answer run_hours(const HoursInput& input);

}  // namespace trireme
