// Gives every buffer of a Program its lifetime and its offset in the one arena: what lives as long as the
// program at the bottom, then each timeline's own buffers, which share the rest since timelines run one at a
// time.
#pragma once
#include "ir/program.h"

namespace trireme {

void place(Program& program);

// By action: the last one during which it may still be at work. That is itself on the compute stream; a comm
// action's is the one before the first later action that waits for it or for one after it on its stream, and
// the timeline's last where there is none.
std::vector<int64_t> ends_of(const std::vector<Action>& actions);

// The buffers that an action reads or writes.
std::vector<BufferId> buffers_of(const Program& program, const Action& action);

}  // namespace trireme
