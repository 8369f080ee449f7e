// How the state of a program's parameters and the sums of its gradients are spread over the ranks of its
// mesh.
#pragma once
#include "config/run_spec.h"
#include "ir/program.h"

namespace trireme {

// Parameters are spread in one of three ways. The ranks that have a parameter's same slice, and whose
// gradients of it are summed, are the domain's ranks; those of them that cut its state among them are its
// shards.
enum class Domain : uint8_t {
  dense,   // every rank of dp_replicate x dp_shard x cp has it; cut over dp_shard x cp
  expert,  // those with the same experts have it: one in ep; cut over the rest of dp_shard x cp
  whole,   // as dense, but never cut: read in f32
};
inline constexpr int kDomains = 3;

struct Shards {
  int64_t count = 1;  // ranks that share a group's state; 1 where nothing is cut
  int64_t index = 0;  // this rank's among them
};

struct Sharding {
  int64_t zero = 0;  // what is cut: 0 nothing, 1 optimizer state, 2 and gradients, 3 and parameters
  std::array<Shards, kDomains> shards;  // by domain
  bool reshard_after_forward = true;
  bool each_micro_batch = false;  // gradients are summed over ranks after each micro-batch, not once
  int64_t prefetch = 1;           // steps ahead that cut weights are gathered
  int64_t lanes = 1;              // of this rank: a power of two

  const Shards& of(Domain domain) const { return shards[static_cast<size_t>(domain)]; }
  bool cuts() const { return of(Domain::dense).count > 1 || of(Domain::expert).count > 1; }
};

// For `rank` of `mesh`, which the config's own is, or one rank that holds all.
Sharding sharding_of(const RunSpec& spec, const Mesh& mesh, int32_t rank);

}  // namespace trireme
