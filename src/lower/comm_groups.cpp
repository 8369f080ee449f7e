// Ranks by their coordinates in the mesh. Making a communicator waits for all its members, so ranks must come
// to the groups that they share in one order: by channel, then by members.
#include "lower/comm_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trireme {
namespace {

enum Channel : int32_t {
  kDp,
  kDpShard,
  kDpReplicate,
  kPp,
  kCopies,
  kUses,
  kLink,
  kExpertDp,
  kExpertShard,
  kTpSums,
  kEpSums,
  kAxis,  // + BlockAxis: of the ops inside blocks
};

std::string name_of(Channel channel, const std::vector<int32_t>& ranks) {
  switch (channel) {
    case kDp:
      return "dp";
    case kDpShard:
      return "dp_shard";
    case kDpReplicate:
      return "dp_replicate";
    case kPp:
      return "pp";
    case kCopies:
      return "copies";
    case kUses:
      return "uses";
    case kLink:
      return fmt::format("{}>{}", ranks[0], ranks[1]);
    case kExpertDp:
      return "expert_dp";
    case kExpertShard:
      return "expert_shard";
    case kTpSums:
      return "tp_sums";
    case kEpSums:
      return "ep_sums";
    default:
      return std::string(name_of(static_cast<BlockAxis>(channel - kAxis)));
  }
}

class Groups {
 public:
  explicit Groups(Program& program) : program_(program), stage_(program.mesh.ranks_per_stage()) {}

  // The ranks of an axis of the mesh, `stride` apart, that this one is among.
  struct Axis {
    int32_t size = 1, stride = 1;
  };
  void along(Channel channel, Axis axis) {
    const int32_t place = program_.rank / axis.stride % axis.size;
    std::vector<int32_t> ranks;
    for (int32_t i = 0; i < axis.size; ++i) ranks.push_back(program_.rank + (i - place) * axis.stride);
    if (axis.size > 1) wanted_.insert({channel, std::move(ranks)});
  }

  // This rank's counterparts on two ranks of the pipeline; nothing where they are one, or neither is its own.
  void pair(Channel channel, int32_t a, int32_t b) {
    if (a != b && (a == stage_rank() || b == stage_rank())) wanted_.insert({channel, {world(a), world(b)}});
  }
  void unordered_pair(Channel channel, int32_t a, int32_t b) {
    pair(channel, std::min(a, b), std::max(a, b));
  }

  CommIds list() {
    CommIds ids;
    for (const auto& [channel, ranks] : wanted_) {
      const CommId id(static_cast<int64_t>(program_.comms.size()));
      program_.comms.push_back({name_of(channel, ranks), channel, ranks});
      const int32_t other = ranks[ranks[0] == program_.rank ? 1 : 0] / stage_;
      CommIds::DataParallel& dense = ids.domains[static_cast<size_t>(Domain::dense)];
      CommIds::DataParallel& expert = ids.domains[static_cast<size_t>(Domain::expert)];
      if (channel == kDp) dense.all = id;
      if (channel == kDpShard) dense.shard = id;
      if (channel == kDpReplicate) dense.replicate = expert.replicate = id;
      if (channel == kExpertDp) expert.all = id;
      if (channel == kExpertShard) expert.shard = id;
      if (channel == kTpSums) ids.tp = id;
      if (channel == kEpSums) ids.ep = id;
      if (channel == kPp) ids.pp = id;
      if (channel >= kAxis) program_.axes[static_cast<size_t>(channel - kAxis)] = id;
      if (channel == kCopies) ids.copies[other] = id;
      if (channel == kUses) ids.uses[other] = id;
      if (channel == kLink) ids.links[{ranks[0] / stage_, ranks[1] / stage_}] = id;
    }
    if (program_.mesh.ep == 1) ids.domains[static_cast<size_t>(Domain::expert)] = ids.of(Domain::dense);
    ids.domains[static_cast<size_t>(Domain::whole)].all = ids.of(Domain::dense).all;
    return ids;
  }

 private:
  int32_t stage_rank() const { return program_.rank / stage_; }
  int32_t world(int32_t pipeline_rank) const { return pipeline_rank * stage_ + program_.rank % stage_; }

  Program& program_;
  int32_t stage_;                                              // ranks of a stage
  std::set<std::pair<Channel, std::vector<int32_t>>> wanted_;  // in the order of the list
};

}  // namespace

CommIds add_comm_groups(Program& program, const StageMap& map,
                        const std::vector<std::pair<size_t, size_t>>& shared) {
  const Mesh& mesh = program.mesh;
  Groups groups(program);
  const int32_t shards = mesh.shards(), tp = mesh.tp, ep = mesh.ep;
  groups.along(kDp, {.size = mesh.dp_replicate * shards, .stride = tp});
  groups.along(kDpShard, {.size = shards, .stride = tp});
  groups.along(kDpReplicate, {.size = mesh.dp_replicate, .stride = shards * tp});
  if (ep > 1) {
    groups.along(kExpertDp, {.size = mesh.dp_replicate * shards / ep, .stride = ep * tp});
    groups.along(kExpertShard, {.size = shards / ep, .stride = ep * tp});
  }
  groups.along(kTpSums, {.size = tp, .stride = 1});
  groups.along(kEpSums, {.size = ep, .stride = tp});
  groups.along(kPp, {.size = mesh.pp, .stride = mesh.ranks_per_stage()});
  const auto axis = [](BlockAxis a) { return static_cast<Channel>(kAxis + static_cast<int32_t>(a)); };
  groups.along(axis(BlockAxis::tp), {.size = tp, .stride = 1});
  groups.along(axis(BlockAxis::cp), {.size = mesh.cp, .stride = tp});
  groups.along(axis(BlockAxis::ep), {.size = ep, .stride = tp});
  for (const auto& ranks : map.placement.rank_of_stage) {
    for (size_t s = 0; s < ranks.size(); ++s) {
      groups.unordered_pair(kCopies, map.placement.rank_of_stage[0][s], ranks[s]);
      if (s == 0) continue;
      groups.pair(kLink, ranks[s - 1], ranks[s]);
      groups.pair(kLink, ranks[s], ranks[s - 1]);
    }
    for (const auto& [a, b] : shared)
      groups.unordered_pair(kUses, ranks[static_cast<size_t>(stage_of(map, a))],
                            ranks[static_cast<size_t>(stage_of(map, b))]);
  }
  return groups.list();
}

}  // namespace trireme
