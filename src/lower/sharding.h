// How the state of a program's parameters and the sums of its gradients are spread over the ranks of its
// mesh.
#pragma once
#include "config/run_spec.h"
#include "ir/program.h"

namespace trireme {

struct Sharding {
  int64_t zero = 0;    // what is cut: 0 nothing, 1 optimizer state, 2 and gradients, 3 and parameters
  int64_t shards = 1;  // ranks that share a group's state; 1 where nothing is cut
  int64_t shard = 0;   // this rank's among them
  bool reshard_after_forward = true;
  bool each_micro_batch = false;  // gradients are summed over ranks after each micro-batch, not once
  int64_t prefetch = 1;           // steps ahead that cut weights are gathered
  int64_t lanes = 1;              // of this rank: a power of two
};

// For `rank` of `mesh`, which the config's own is, or one rank that holds all.
Sharding sharding_of(const RunSpec& spec, const Mesh& mesh, int32_t rank);

}  // namespace trireme
