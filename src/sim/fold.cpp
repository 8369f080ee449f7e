// Units are runs of shard indices, as long as both cp and ep ask for.
#include "sim/fold.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"

namespace trireme {
namespace {

void check(const SlowRank& slow, int32_t ranks) {
  if (slow.rank < 0 || slow.rank >= ranks)
    fail_user("slow rank {}: the run has the ranks 0 to {}", slow.rank, ranks - 1);
  if (!(slow.factor > 0) || !std::isfinite(slow.factor))
    fail_user("slow rank {}: {} is no factor of time; give a number above 0, 1.3 for 1.3 times as long",
              slow.rank, slow.factor);
}

}  // namespace

Folding::Folding(const Mesh& mesh, const Disturbance& disturbance)
    : mesh_(mesh), unit_shards_(std::lcm(mesh.cp, mesh.ep)) {
  std::map<int32_t, size_t> kind_of;  // of disturbed units
  for (const SlowRank& slow : disturbance.slow) {
    check(slow, mesh.ranks());
    kind_of.try_emplace(unit_of(slow.rank), kind_of.size());
  }
  const int32_t units = mesh.dp_replicate * mesh.shards() / unit_shards_;
  const int32_t unit_ranks = unit_shards_ * mesh.tp;
  const int32_t rest = units - static_cast<int32_t>(kind_of.size());
  std::vector<int32_t> unit_of_kind(kind_of.size());
  for (const auto& [unit, kind] : kind_of) unit_of_kind[kind] = unit;
  if (rest > 0) {
    int32_t unit = 0;
    while (kind_of.contains(unit)) ++unit;
    unit_of_kind.push_back(unit);
  }
  kinds_ = unit_of_kind.size();
  for (int32_t stage = 0; stage < mesh.pp; ++stage)
    for (size_t kind = 0; kind < kinds_; ++kind)
      ranks_.push_back({.rank = stage * mesh.ranks_per_stage() + unit_of_kind[kind] * unit_ranks,
                        .stands_for = unit_ranks * (kind < kind_of.size() ? 1 : int64_t{rest}),
                        .program = static_cast<size_t>(stage)});
  for (const SlowRank& slow : disturbance.slow) {
    SimRank& rank =
        ranks_[static_cast<size_t>(mesh.stage_rank(slow.rank)) * kinds_ + kind_of.at(unit_of(slow.rank))];
    rank.slowdown = std::max(rank.slowdown, slow.factor);
  }
}

int32_t Folding::unit_of(int32_t rank) const {
  return rank % mesh_.ranks_per_stage() / mesh_.tp / unit_shards_;
}

bool Folding::crosses_units(const CommGroup& group) const {
  return std::ranges::any_of(group.ranks,
                             [&](int32_t rank) { return unit_of(rank) != unit_of(group.ranks[0]); });
}

std::vector<size_t> Folding::members(size_t rank, const CommGroup& group) const {
  const bool crosses = crosses_units(group);
  std::vector<size_t> members;
  for (const int32_t member : group.ranks) {
    const size_t first = static_cast<size_t>(mesh_.stage_rank(member)) * kinds_;
    for (size_t kind = 0; kind < kinds_; ++kind)
      if ((crosses || kind == rank % kinds_) && std::ranges::find(members, first + kind) == members.end())
        members.push_back(first + kind);
  }
  return members;
}

}  // namespace trireme
