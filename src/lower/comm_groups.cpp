// Ranks by their coordinates in the mesh. Making a communicator waits for all its members, so ranks must come
// to the groups that they share in one order: by channel, then by members.
#include "lower/comm_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trireme {
namespace {

enum Channel : int32_t { kDp, kDpShard, kDpReplicate, kPp, kCopies, kUses, kLink };

class Groups {
 public:
  explicit Groups(Program& program) : program_(program), dp_(program.mesh.data_parallel()) {}

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
    const auto name = [](Channel channel, const std::vector<int32_t>& ranks) -> std::string {
      constexpr const char* kNames[] = {"dp", "dp_shard", "dp_replicate", "pp", "copies", "uses"};
      return channel == kLink ? fmt::format("{}>{}", ranks[0], ranks[1]) : kNames[channel];
    };
    for (const auto& [channel, ranks] : wanted_) {
      const CommId id(static_cast<int64_t>(program_.comms.size()));
      program_.comms.push_back({name(channel, ranks), channel, ranks});
      const int32_t other = ranks[ranks[0] == program_.rank ? 1 : 0] / dp_;
      if (channel == kDp) ids.dp = id;
      if (channel == kDpShard) ids.dp_shard = id;
      if (channel == kDpReplicate) ids.dp_replicate = id;
      if (channel == kPp) ids.pp = id;
      if (channel == kCopies) ids.copies[other] = id;
      if (channel == kUses) ids.uses[other] = id;
      if (channel == kLink) ids.links[{ranks[0] / dp_, ranks[1] / dp_}] = id;
    }
    return ids;
  }

 private:
  int32_t stage_rank() const { return program_.rank / dp_; }
  int32_t world(int32_t pipeline_rank) const { return pipeline_rank * dp_ + program_.rank % dp_; }

  Program& program_;
  int32_t dp_;
  std::set<std::pair<Channel, std::vector<int32_t>>> wanted_;  // in the order of the list
};

}  // namespace

CommIds add_comm_groups(Program& program, const StageMap& map,
                        const std::vector<std::pair<size_t, size_t>>& shared) {
  const Mesh& mesh = program.mesh;
  Groups groups(program);
  groups.along(kDp, {.size = mesh.data_parallel(), .stride = 1});
  groups.along(kDpShard, {.size = mesh.dp_shard, .stride = 1});
  groups.along(kDpReplicate, {.size = mesh.dp_replicate, .stride = mesh.dp_shard});
  groups.along(kPp, {.size = mesh.pp, .stride = mesh.data_parallel()});
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
