// Gives every buffer of a Program its lifetime and its offset in the one arena: what lives as long as the
// program at the bottom, then each timeline's own buffers, which share the rest since timelines run one at a
// time.
#pragma once
#include "ir/program.h"

namespace trireme {

void place(Program& program);

// The buffers that an action reads or writes.
std::vector<BufferId> buffers_of(const Program& program, const Action& action);

}  // namespace trireme
