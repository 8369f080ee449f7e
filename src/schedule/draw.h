// A schedule drawn over time, for people.
#pragma once
#include <cstddef>
#include <string>

#include "schedule/schedule.h"

namespace trireme {

struct DrawLimits {
  size_t columns = 120;  // of text; what does not fit goes on in a further band of rows
  size_t bands = 4;      // and what does not fit into these is left out, with a note
};

// A row per rank, a column per unit of time, in which a forward takes 1 unit, an input or weight part 1, a
// whole backward 2 and a pair that runs at once 3; communication takes none. "B3" is the backward of
// micro-batch 3, "4B3" that of stage 4 where ranks have several stages; "--" is the rest of a step, "." a
// unit in which the rank waits. Below, per rank: units of waiting, and the stages x micro-batches whose
// activations it stores at most. For a schedule in which find_fault finds nothing.
std::string draw(const Schedule& schedule, const DrawLimits& limits = {});

}  // namespace trireme
