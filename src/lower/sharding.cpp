// The config's keys, brought to what lowering asks.
#include "lower/sharding.h"

#include "base/error.h"

namespace trireme {

Sharding sharding_of(const RunSpec& spec, const Mesh& mesh, int32_t rank) {
  CHECK(spec.batch.lanes % mesh.data_parallel() == 0, "{} lanes on {} ranks", spec.batch.lanes,
        mesh.data_parallel());
  Sharding sharding;
  sharding.lanes = spec.batch.lanes / mesh.data_parallel();
  sharding.reshard_after_forward = spec.parallel.reshard_after_forward;
  if (spec.parallel.zero == 0 || mesh.shards() == 1) return sharding;
  sharding.zero = spec.parallel.zero;
  sharding.each_micro_batch = sharding.zero >= 2 && spec.parallel.reduce_each_micro_batch;
  sharding.prefetch = spec.parallel.prefetch;
  sharding.shards[static_cast<size_t>(Domain::dense)] = {mesh.shards(), mesh.shard_index(rank)};
  sharding.shards[static_cast<size_t>(Domain::expert)] = {mesh.shards() / mesh.ep,
                                                          mesh.shard_index(rank) / mesh.ep};
  return sharding;
}

}  // namespace trireme
