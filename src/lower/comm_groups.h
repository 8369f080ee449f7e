// Which ranks a program's rank communicates with: the groups of Program::comms.
#pragma once
#include "ir/program.h"

namespace trireme {

// Invalid where the rank would be alone in it.
struct CommIds {
  CommId dp, dp_shard, dp_replicate;  // the ranks of this one's stages, or those of one of their two axes
  CommId pp;                          // the ranks of the pipeline
};

// Adds the groups that the mesh asks for. All ranks list the groups that they share in one order.
CommIds add_comm_groups(Program& program);

// A group of two, for what `from` sends to `to`; this program's rank is one of them.
CommId add_link(Program& program, int32_t from, int32_t to);

}  // namespace trireme
