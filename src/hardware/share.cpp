// Names of peaks, and what a rank has of a node that it shares.
#include "base/error.h"
#include "hardware/hardware.h"

namespace trireme {

std::string_view name_of(PeakType type) {
  constexpr std::string_view kNames[kPeakTypes] = {"fp32", "tf32", "bf16", "fp16", "fp8", "fp4"};
  return kNames[static_cast<size_t>(type)];
}

RankShare share_of(const Hardware& h, int64_t ranks, int64_t nodes) {
  if (nodes < 1) fail_user("--nodes {} of {} hold no rank; use 1 or more", nodes, h.name);
  if (ranks < 1) fail_user("ranks = {} do nothing on {}; use 1 or more", ranks, h.name);
  if (ranks % nodes != 0)
    fail_user("--nodes {} does not divide the {} ranks; use a divisor of {}, or leave --nodes out", nodes,
              ranks, ranks);
  RankShare share;
  share.ranks_per_node = ranks / nodes;
  if (nodes > 1 && h.between.bytes_per_s == 0)
    fail_user(
        "--nodes {}: {} says nothing of what joins nodes; add [between] with bandwidth, efficiency and "
        "latency, or use 1 node",
        nodes, h.name);
  if (h.kind == DeviceClass::gpu) {
    const int64_t fit = h.devices_per_node;
    if (share.ranks_per_node > fit)
      fail_user("--nodes {} of {} have {} devices for {} ranks; use {} nodes or more", nodes, h.name,
                nodes * fit, ranks, (ranks + fit - 1) / fit);
    share.memory_bytes_per_s = h.memory_bytes_per_s;
    share.memory_bytes = h.memory_bytes - h.overhead_bytes;
    return share;
  }
  const int64_t here = share.ranks_per_node;
  share.threads = here < h.devices_per_node ? h.devices_per_node / here : 1;
  if (here > h.devices_per_node)
    share.slowdown = static_cast<double>(here) / static_cast<double>(h.devices_per_node);
  share.memory_bytes_per_s = h.memory_bytes_per_s / static_cast<double>(here);
  share.memory_bytes = h.memory_bytes / here - h.overhead_bytes;
  if (share.memory_bytes <= 0)
    fail_user(
        "{} ranks on a node of {} leave no memory to a rank: each keeps {} bytes beside its arena; use "
        "fewer ranks or more nodes",
        here, h.name, h.overhead_bytes);
  return share;
}

}  // namespace trireme
