// A name or a path, and a count.
#include "cli/cluster_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/limits.h"

namespace trireme::cli {

void add_cluster(CLI::App& command, ClusterChoice& choice) {
  command
      .add_option("--cluster", choice.hardware,
                  "the machines: a name as h100-sxm, or a file that trireme calibrate wrote")
      ->required();
  command.add_option("--nodes", choice.nodes, "machines; as few as the ranks need unless given")
      ->check(between(1, 1 << 20));
}

Cluster choose_cluster(const ClusterChoice& choice, const Hardware& hardware, int64_t ranks) {
  const int64_t per_node = std::max<int64_t>(1, hardware.devices_per_node);
  const int64_t needed = hardware.kind == DeviceClass::gpu ? (ranks + per_node - 1) / per_node : 1;
  return cluster_of(hardware, ranks, choice.nodes.value_or(needed));
}

}  // namespace trireme::cli
