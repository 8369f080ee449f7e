// What a machine can do, as numbers: the devices, what joins them, and how near kernels come to the peaks.
// The simulator prices programs with it; `trireme calibrate` measures one; read.h reads one from a file.
// Nothing here knows an op or a layout.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme {

// A gpu's rank has one device. A cpu's device is one core, and a rank has as many as there are per rank.
enum class DeviceClass : uint8_t { cpu, gpu };

enum class PeakType : uint8_t { fp32, tf32, bf16, fp16, fp8, fp4 };
inline constexpr int kPeakTypes = 6;
std::string_view name_of(PeakType type);

// Where numbers come from: the file has one for each of its numbers.
struct NumberSource {
  std::string key;    // "datasheet"
  std::string title;  // of the page or paper, with its address; or how it was measured or fitted
  std::string date;   // "2023-03"
  bool operator==(const NumberSource&) const = default;
};

// How near kernels come to what the device could do. Fractions are of the dense peak and of the memory's
// bandwidth, in the steady state of large calls.
struct KernelModel {
  double launch_s = 0;        // per kernel, not hidden behind the one before
  double product = 1;         // matrix products of whole tiles on all units
  double attention = 1;       // attention forward, of the FLOPs under the causal mask
  double attention_grad = 1;  // and backward
  double memory = 1;          // kernels that only move memory
  // Times as many bytes as a fused kernel would as frameworks move between products: norms, activations,
  // rotations, sums, and the logits of the loss.
  double unfused = 1;
  int64_t units = 1;                        // multiprocessors that tiles of a product go to in waves
  int64_t tile_rows = 1, tile_columns = 1;  // of a product's result
  int64_t tile_fill = 0;  // of a product's inner dim: what to begin and to end a tile takes as long as
  // Of the compute units, what a collective or a copy between ranks occupies while it runs. 1: it is done by
  // the same units as compute, so overlap gains nothing.
  double communication = 0;
  bool operator==(const KernelModel&) const = default;
};

// Of one device to the others it reaches so, in one direction.
struct Link {
  double bytes_per_s = 0;  // nominal
  double efficiency = 1;   // what large messages get of it
  double latency_s = 0;    // of one hop
  bool operator==(const Link&) const = default;
};

// How sums over ranks travel: round a ring, as NCCL does on several nodes, or each part straight to the rank
// that sums it.
enum class CollectiveWay : uint8_t { ring, direct };

// Measured: one call of an op of such a size on one rank of `threads` threads, while the machine's other
// cores do the same. The meaning of `size` is sim/op_size.h's.
struct OpCurve {
  std::string op;     // "linear"
  std::string dtype;  // of its first input: "bf16"
  int64_t threads = 1;
  std::vector<std::pair<std::vector<int64_t>, double>> points;  // size -> seconds, sorted
  bool operator==(const OpCurve&) const = default;
};

// Measured: a collective over ranks on one node, by what one rank sends (compile/comm_report.h).
struct CommCurve {
  std::string op;  // "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"
  int64_t ranks = 2;
  std::vector<std::pair<int64_t, double>> points;  // bytes sent -> seconds, sorted
  bool operator==(const CommCurve&) const = default;
};

struct Hardware {
  std::string name;    // "h100-sxm"
  std::string device;  // "NVIDIA H100 SXM5 80 GB"
  DeviceClass kind = DeviceClass::gpu;
  std::array<double, kPeakTypes> peak{};  // FLOP/s of a device, dense; 0: it has no such units
  int64_t memory_bytes = 0;               // of a device; a cpu's: of a node
  double memory_bytes_per_s = 0;          // likewise
  int64_t overhead_bytes = 0;             // of a rank: what drivers and libraries keep beside the arena
  KernelModel kernels;
  int64_t devices_per_node = 1;
  Link inside, between;  // of a node, of nodes
  CollectiveWay collectives = CollectiveWay::ring;
  double host_bytes_per_s = 0;   // from the host's memory to a device's; a cpu's: a copy
  double store_bytes_per_s = 0;  // of a node to where checkpoints lie
  std::vector<OpCurve> ops;
  std::vector<CommCurve> comms;
  std::vector<NumberSource> sources;
  std::vector<std::pair<std::string, std::string>> source_of;  // "peak.bf16" -> key of a source, in order
  // Numbers that are not as the file has them: "kernels.unfused = 1 (the file has 4.2)".
  std::vector<std::string> assumed;
  bool operator==(const Hardware&) const = default;

  double peak_of(PeakType type) const { return peak[static_cast<size_t>(type)]; }
};

// What a rank has when `ranks` ranks share `nodes` nodes.
struct RankShare {
  int64_t ranks_per_node = 1;
  int64_t threads = 1;  // of a cpu; else 1
  double slowdown = 1;  // of compute, where ranks share a core
  double memory_bytes_per_s = 0;
  int64_t memory_bytes = 0;  // for the arena, overhead taken off
};
// UserError when ranks do not fit the nodes: more than devices on a gpu's, or no whole number per node.
RankShare share_of(const Hardware& hardware, int64_t ranks, int64_t nodes);

}  // namespace trireme
