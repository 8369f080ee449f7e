// A schedule in time: every step takes whole units, communication none, and a step starts when its rank is
// free and the neighbouring stage has finished what it needs. Forward of stage s needs the forward of s - 1;
// a backward or its input part needs that of s + 1, and a weight part its own input part.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace trireme {

// Units of time per stage and micro-batch. A whole backward costs input + weight.
struct StepCosts {
  int64_t forward = 1;
  int64_t input = 1;
  int64_t weight = 1;
  std::optional<int64_t>
      pair;  // an overlapped forward and whole backward; forward + input + weight when not set
};

struct RankTimes {
  int64_t first = 0, last = 0;  // when its first step starts and its last one ends
  int64_t busy = 0;
  int32_t most_stored =
      0;  // stages x micro-batches whose activations are held at once, forward to weight part
};

struct Simulation {
  std::vector<RankTimes> ranks;
  std::vector<std::vector<int64_t>> starts;  // per step, as in the table; -1 where it is never reached
  int64_t length = 0;                        // from 0 to the end of the last step
  // The ranks that wait for each other for ever and for what, in a ring; "" when all steps ran.
  std::string deadlock;

  int64_t bubble(int32_t rank) const { return length - ranks[static_cast<size_t>(rank)].busy; }
};

// The table must be complete and every step on its own rank (find_fault in check.h looks at that first).
Simulation simulate(const Schedule& schedule, const StepCosts& costs);

}  // namespace trireme
