// How long each action of a timeline takes on a hardware when nothing disturbs it: kernels by the hardware's
// curves or, where it has none, by FLOPs and bytes; collectives by bytes, links and hops.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "hardware/hardware.h"
#include "ir/program.h"
#include "ops/op.h"

namespace trireme {

// Where the ranks of the run are: numbered node by node.
struct Cluster {
  const Hardware* hardware = nullptr;
  int64_t nodes = 1;
  RankShare share;
};
// UserError as share_of.
Cluster cluster_of(const Hardware& hardware, int64_t ranks, int64_t nodes);

// Seconds of one call of a kernel on one rank, communication left out.
double kernel_s(const Cluster& cluster, const OpSig& sig);

struct WireTime {
  double seconds = 0;
  bool between = false;  // nodes: which link is busy meanwhile
};
// Of a collective of `op` ("all_reduce", ..., "send") over these ranks in which each sends `bytes`.
WireTime wire_time(const Cluster& cluster, std::string_view op, int64_t bytes,
                   const std::vector<int32_t>& ranks);

// One op inside a block, on one rank.
struct OpPrice {
  double compute_s = 0;  // of its kernel
  // Of an op that names an axis: what of its talk there leaves compute waiting, and what goes on beside it.
  std::optional<BlockAxis> axis;
  double exposed_s = 0, hidden_s = 0;
  bool in_parts = false;  // which go one by one beside the op's compute
  bool between = false;   // nodes
  int64_t sent_bytes = 0;
};
// On a cpu with as many threads as the program is compiled for: a run may keep to fewer than there are.
OpPrice price_op(const Program& program, const Code& code, const Op& op, const Cluster& cluster);

// What an action keeps busy.
struct ActionPrice {
  double compute_s = 0;                       // of kernels; of a `load`: the copy to the device
  std::array<double, kBlockAxes> axis_s{};    // in which its ops wait for other ranks of the axis
  std::array<double, kBlockAxes> hidden_s{};  // of talk on the axis that goes on beside its compute
  std::vector<WireTime> transfers;            // of a comm or p2p action, one by one
  bool axis_between = false;                  // its ops talk between nodes

  double total_s() const;
};
std::vector<ActionPrice> price(const Program& program, const Timeline& timeline, const Cluster& cluster);

}  // namespace trireme
