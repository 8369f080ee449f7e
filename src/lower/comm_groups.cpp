// Ranks by their coordinates in the mesh. Making a communicator waits for all its members, so two ranks must
// come to the groups that they share in the same order: by channel, links by sender and receiver.
#include "lower/comm_groups.h"

#include <fmt/format.h>

#include <utility>

namespace trireme {
namespace {

// Channels, in the order in which groups are listed.
enum Channel : int32_t { kDp, kDpShard, kDpReplicate, kPp, kLink };

CommId add(Program& program, std::string name, Channel channel, std::vector<int32_t> ranks) {
  if (ranks.size() < 2) return {};
  program.comms.push_back({std::move(name), channel, std::move(ranks)});
  return CommId(static_cast<int64_t>(program.comms.size()) - 1);
}

// `count` ranks, `stride` apart, of which this one has place `place`.
std::vector<int32_t> line(int32_t rank, int32_t place, int32_t count, int32_t stride) {
  std::vector<int32_t> ranks;
  for (int32_t i = 0; i < count; ++i) ranks.push_back(rank + (i - place) * stride);
  return ranks;
}

}  // namespace

CommIds add_comm_groups(Program& program) {
  const Mesh& mesh = program.mesh;
  const int32_t rank = program.rank, dp = mesh.data_parallel();
  CommIds ids;
  ids.dp = add(program, "dp", kDp, line(rank, rank % dp, dp, 1));
  ids.dp_shard = add(program, "dp_shard", kDpShard, line(rank, rank % mesh.dp_shard, mesh.dp_shard, 1));
  ids.dp_replicate = add(program, "dp_replicate", kDpReplicate,
                         line(rank, rank % dp / mesh.dp_shard, mesh.dp_replicate, mesh.dp_shard));
  ids.pp = add(program, "pp", kPp, line(rank, rank / dp, mesh.pp, dp));
  return ids;
}

CommId add_link(Program& program, int32_t from, int32_t to) {
  return add(program, fmt::format("{}>{}", from, to), kLink, {from, to});
}

}  // namespace trireme
