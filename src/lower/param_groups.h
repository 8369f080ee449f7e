// Sorts parameters into groups, the unit of gathering and reducing: one per block, one for each parameter
// that several blocks use (a tied embedding), and further ones for a block's experts and for the state of its
// router, which other ranks share.
//
// In a group's flat buffers stand first the parameters that ops read directly (resident: norms, biases,
// embeddings), then those that only `prepare` reads (transient: packed matrices), whose compute copy dies
// once they are packed. In each half those without weight decay come first.
//
// Every rank plans all groups of the model alike, and keeps the state of those that its stages use.
#pragma once
#include <vector>

#include "lower/chain.h"
#include "lower/sharding.h"
#include "lower/stage_map.h"

namespace trireme {

struct FlatRange {
  int64_t begin = 0, end = 0;  // elements
  bool decay = false;
};

struct GroupPlan {
  Domain domain = Domain::dense;
  bool copied = false;            // some op reads a compute copy
  int64_t resident_elements = 0;  // 0 as well where ops that read directly read the master weights
  int64_t used_elements =
      0;  // of parameters, each padded to kParamAlignment; the rest fills up the last shard
  std::vector<FlatRange> decay_ranges;  // cover what is used; neighbours differ in decay
  // Parts whose gradient is a sum over the ranks of tp: each has an addend.
  std::vector<FlatRange> tp_addends;
  // Parts that this rank counts in the norm of the whole gradient, where it counts the group: its own slices
  // of what tp cuts, and of what all of tp have, one rank's.
  std::vector<FlatRange> normed;
  std::vector<size_t> uses;  // blocks of the chain, in order
  bool held = false;         // by a stage of this rank
  bool counted = false;      // in the norm of the whole gradient, where several ranks of the pipeline hold it
};

// Gives every parameter of `program` its group and offset, and makes the groups with their lasting buffers:
// this rank's shard of master weights, and of as many moments as the optimizer has. `chains`: all uses of the
// parameters, in chains with the same blocks.
enum class Moments : uint8_t { none, one, two };
std::vector<GroupPlan> add_groups(Program& program, const std::vector<Chain>& chains,
                                  const Sharding& sharding, const StageMap& map, DType compute,
                                  Moments moments);

}  // namespace trireme
