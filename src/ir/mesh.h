// The ranks of a run as a grid of named axes, outermost first: pp, dp_replicate, dp_shard, cp, tp. Experts
// lie on an axis of their own, ep, which is folded over dp_shard x cp: their tokens come from there.
#pragma once
#include <cstdint>

namespace trireme {

struct Mesh {
  int32_t pp = 1, dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1;
  int32_t ep = 1;   // divides dp_shard x cp
  int32_t etp = 1;  // ranks of tp that an expert is cut over: 1 or tp

  int32_t data_parallel() const { return dp_replicate * dp_shard; }  // parts of the data
  // Ranks that share one copy of the parameters' state, as `zero` says: context ranks hold the same ones.
  int32_t shards() const { return dp_shard * cp; }
  int32_t ranks_per_stage() const { return data_parallel() * cp * tp; }
  int32_t ranks() const { return pp * ranks_per_stage(); }

  int32_t tp_index(int32_t rank) const { return rank % tp; }
  int32_t cp_index(int32_t rank) const { return rank / tp % cp; }
  int32_t shard_index(int32_t rank) const { return rank / tp % shards(); }
  int32_t ep_index(int32_t rank) const { return shard_index(rank) % ep; }
  // Which part of the data a rank works on; its stages' peers in other pipelines have the other parts.
  int32_t data_parallel_index(int32_t rank) const { return rank / (tp * cp) % data_parallel(); }
  // One of the ranks that have the same rows.
  bool counts_rows(int32_t rank) const {
    return stage_rank(rank) == 0 && cp_index(rank) == 0 && tp_index(rank) == 0;
  }
  int32_t stage_rank(int32_t rank) const { return rank / ranks_per_stage(); }

  bool operator==(const Mesh&) const = default;
};

}  // namespace trireme
