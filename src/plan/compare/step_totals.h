// A traced step as sums by what the ranks were at. The same for a measured trace and a predicted one, so that
// they can be held against each other line by line.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/simulate.h"

namespace trireme {

struct TimedEvent {
  std::string row, name;  // as compile/timeline_rows.h has them: "compute", "forward layers.0 mb 1"
  double start_s = 0, end_s = 0;
};
struct RankEvents {
  int32_t rank = 0;
  int64_t stands_for = 1;
  std::vector<TimedEvent> events;
};

// Those of the trace file of a step; empty where the text is none.
std::vector<RankEvents> read_trace(const std::string& text);
std::vector<RankEvents> events_of(const SimulationInput& input, const StepSimulation& step);

// Seconds; of compute, means over ranks.
struct StepTotals {
  double step_s = 0;
  // "forward", "backward", "norm and update", "loading", "weights laid out, sums".
  std::map<std::string, double> compute;
  double waits_s = 0;  // of step_s, what no compute takes
  // What moves, by kind: "reduce_grad", "send_act", "axis tp". An event counts as long as on the rank where
  // it is shortest: there it waits for nobody. Of sends and receives a link's mean.
  std::map<std::string, double> moves;
  std::map<int32_t, double> busy_s;  // by rank: forward and backward, without what ops inside wait for axes
};
StepTotals totals_of(const std::vector<RankEvents>& ranks);

// Mean of several steps.
StepTotals mean_of(const std::vector<StepTotals>& steps);

}  // namespace trireme
