// What collectives take: the bytes over the narrowest link on their way, and a latency per hop (the
// alpha-beta model of Thakur et al. 2005, "Optimization of Collective Communication Operations in MPICH").
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/curves.h"
#include "sim/price.h"

namespace trireme {
namespace {

// How a group lies over nodes.
struct Spread {
  int64_t nodes = 1;
  int64_t fewest = 1;  // members on the node that has fewest
};

Spread spread_of(const std::vector<int32_t>& ranks, int64_t per_node) {
  std::map<int64_t, int64_t> members;
  for (const int32_t rank : ranks) ++members[rank / per_node];
  Spread spread{static_cast<int64_t>(members.size()), static_cast<int64_t>(ranks.size())};
  for (const auto& [node, count] : members) spread.fewest = std::min(spread.fewest, count);
  return spread;
}

double rate_of(const Link& link) { return link.bytes_per_s * link.efficiency; }

// A ring passes every byte on once: each of a node's members has its own way out (NCCL's rings, one per
// network card), so what a node sends to the next is shared by its members.
double ring_rate(const Hardware& hardware, const Spread& spread) {
  const double between = rate_of(hardware.between) * static_cast<double>(spread.fewest);
  return spread.fewest > 1 ? std::min(rate_of(hardware.inside), between) : between;
}

double log2_of(int64_t n) { return std::log2(static_cast<double>(std::max<int64_t>(n, 1))); }

// Parts that go straight to their rank, or all-to-all: each rank sends to others what is theirs.
double direct_s(const Hardware& hardware, const Spread& spread, int64_t members, double bytes) {
  const double others = static_cast<double>(members - 1);
  const double inside = bytes * static_cast<double>(spread.fewest - 1) / others;
  return std::max(inside / rate_of(hardware.inside), (bytes - inside) / rate_of(hardware.between));
}

double between_nodes_s(const Hardware& hardware, std::string_view op, double bytes, const Spread& spread,
                       int64_t members) {
  if (op == "send") return bytes / rate_of(hardware.between) + hardware.between.latency_s;
  // Trees over nodes and a few hops inside; a ring's latency overlaps with its chunks.
  const double hops = log2_of(spread.nodes) * (op == "all_reduce" ? 2 : 1);
  const double latency =
      hops * hardware.between.latency_s + log2_of(spread.fewest) * hardware.inside.latency_s;
  if (op == "all_to_all" || hardware.collectives == CollectiveWay::direct)
    return direct_s(hardware, spread, members, bytes) + latency;
  return bytes / ring_rate(hardware, spread) + latency;
}

}  // namespace

Cluster cluster_of(const Hardware& hardware, int64_t ranks, int64_t nodes) {
  return {&hardware, nodes, share_of(hardware, ranks, nodes)};
}

WireTime wire_time(const Cluster& cluster, std::string_view op, int64_t bytes,
                   const std::vector<int32_t>& ranks) {
  const Hardware& hardware = *cluster.hardware;
  const auto members = static_cast<int64_t>(ranks.size());
  if (members < 2) return {};
  const Spread spread = spread_of(ranks, cluster.share.ranks_per_node);
  if (spread.nodes > 1)
    return {between_nodes_s(hardware, op, static_cast<double>(bytes), spread, members), true};
  if (const auto measured = measured_comm_s(hardware, op, members, bytes)) return {*measured, false};
  const double hops = op == "send" ? 1 : log2_of(members) * (op == "all_reduce" ? 2 : 1);
  return {static_cast<double>(bytes) / rate_of(hardware.inside) + hops * hardware.inside.latency_s, false};
}

}  // namespace trireme
