// The options of subcommands that ask for a hardware: --cluster, --nodes and --assume.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "hardware/hardware.h"
#include "sim/price.h"

namespace trireme::cli {

struct ClusterChoice {
  std::string hardware;  // a name or a file
  std::optional<int64_t> nodes;
  std::vector<std::string> assumptions;
};

void add_cluster(CLI::App& command, ClusterChoice& choice);

Hardware hardware_of(const ClusterChoice& choice);

// The nodes that were asked for, or as few as have a device for each rank; a cpu's ranks share one.
// `hardware` must outlive it. UserError where the ranks do not fit.
Cluster choose_cluster(const ClusterChoice& choice, const Hardware& hardware, int64_t ranks);

}  // namespace trireme::cli
