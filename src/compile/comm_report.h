// What a rank sends in a step, by the Program: the collectives inside its blocks, op by op, and those between
// steps of the timeline. The same numbers that the trace of a step counts.
#pragma once
#include <string>

#include "ir/program.h"

namespace trireme {

// Bytes that the rank sends in one call, as a ring would move them.
int64_t sent_bytes(const Program& program, const Transfer& transfer);
int64_t sent_bytes(const Program& program, const Action& action);  // of a comm or p2p action
// Of the ops of a section of a block's code that talk on `axis`, for one micro-batch.
int64_t sent_bytes(const Code& code, Section section, BlockAxis axis);

// For people: `trireme compile --print comm`.
std::string comm_text(const Program& program);

}  // namespace trireme
