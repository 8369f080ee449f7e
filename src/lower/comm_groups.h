// Which ranks a program's rank communicates with: the groups of Program::comms, by what they are for.
#pragma once
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "lower/sharding.h"
#include "lower/stage_map.h"

namespace trireme {

// Invalid where the rank would be alone in it.
struct CommIds {
  // Of a domain's parameters: all ranks that have the same slice, those that cut its state among them, and
  // those that have the same part of that.
  struct DataParallel {
    CommId all, shard, replicate;
  };
  std::array<DataParallel, kDomains> domains;
  CommId tp;  // the ranks that share this one's layers, beside what their ops say to each other
  CommId ep;  // likewise those that share its experts
  CommId pp;  // the pipeline's ranks

  const DataParallel& of(Domain domain) const { return domains[static_cast<size_t>(domain)]; }
  // By pipeline rank of the other: who has a copy of one of this rank's stages; who has another use of one of
  // its parameters; and by sender and receiver.
  std::map<int32_t, CommId> copies, uses;
  std::map<std::pair<int32_t, int32_t>, CommId> links;
};

// Adds the groups that the mesh and the placement of the stages ask for, those of the axes that ops name too.
// Ranks list the groups that they share in the same order. shared: pairs of blocks with a parameter in
// common.
CommIds add_comm_groups(Program& program, const StageMap& map,
                        const std::vector<std::pair<size_t, size_t>>& shared);

}  // namespace trireme
