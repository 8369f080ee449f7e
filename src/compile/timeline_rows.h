// The rows and names under which a timeline's actions are shown over time: the same in the measured trace of
// a step (train/step_trace.h) and in a predicted one (sim/trace.h), so that the two lie one over the other.
#pragma once
#include <cstdint>
#include <string>

#include "ir/program.h"

namespace trireme {

struct TimelineRow {
  int64_t number = 0;  // rows of a rank, top to bottom
  std::string name;    // "compute", "p2p 0>1"
};

// Top to bottom: the step, the compute stream, the comm stream, one per axis that ops inside blocks talk on,
// and one per group that sends or receives.
TimelineRow step_row();
TimelineRow row_of(const Program& program, const Action& action);
TimelineRow row_of(BlockAxis axis);

// As `trireme compile --print timeline` has it: "forward layers.0 mb 1".
std::string name_of_action(const Program& program, const Action& action);
// Of an op inside an action that talks on an axis: "all_gather in forward layers.0 mb 1".
std::string name_of_axis_call(std::string_view op, const Program& program, const Action& action);

}  // namespace trireme
