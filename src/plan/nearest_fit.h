// A config that does not fit: the nearest changes that do and their price. All are guessed (plan/estimate.h),
// the best of them compiled and simulated.
#pragma once
#include <vector>

#include "plan/outcome.h"

namespace trireme {

struct Fix {
  Outcome outcome;
  double speed = 1;  // tokens per second and device, as a multiple of those of the plan that does not fit
};

// Of a plan that does not fit, over as many devices first, then the fastest. One decision away, or two where
// no single one keeps most of the speed. Where the plan's devices are not fixed, layouts of up to eight times
// its ranks are among them, and of up to 512 times while nothing fits.
struct FixOptions {
  bool more_devices = true;
  int threads = 1;
  size_t most = 8;
  int64_t most_work = 100'000;  // work_of what is compiled and simulated for each decision, about
};
std::vector<Fix> nearest_fits(const Plan& plan, const FixOptions& options);

}  // namespace trireme
