// Which ranks a program's rank communicates with: the groups of Program::comms, by what they are for.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "lower/stage_map.h"

namespace trireme {

// Invalid where the rank would be alone in it.
struct CommIds {
  CommId dp, dp_shard, dp_replicate;  // the ranks with this one's stages, or those of one of their two axes
  CommId pp;                          // the pipeline's ranks
  // By pipeline rank of the other: who has a copy of one of this rank's stages; who has another use of one of
  // its parameters; and by sender and receiver.
  std::map<int32_t, CommId> copies, uses;
  std::map<std::pair<int32_t, int32_t>, CommId> links;
};

// Adds the groups that the mesh and the placement of the stages ask for. Ranks list the groups that they
// share in the same order. shared: pairs of blocks with a parameter in common.
CommIds add_comm_groups(Program& program, const StageMap& map,
                        const std::vector<std::pair<size_t, size_t>>& shared);

}  // namespace trireme
