// A name or a path, a count, and what is taken otherwise.
#include "cli/cluster_choice.h"

#include <CLI/CLI.hpp>

#include "cli/limits.h"
#include "hardware/catalog.h"
#include "plan/plan.h"

namespace trireme::cli {

void add_cluster(CLI::App& command, ClusterChoice& choice) {
  command
      .add_option("--cluster", choice.hardware,
                  "the machines: a name as h100-sxm, or a file that trireme calibrate wrote")
      ->required();
  command.add_option("--nodes", choice.nodes, "machines; as few as the ranks need unless given")
      ->check(between(1, 1 << 20));
  command
      .add_option("--assume", choice.assumptions,
                  "section.key=value over what the hardware file says, as kernels.unfused=1; may be repeated")
      ->expected(1)
      ->take_all();
}

Hardware hardware_of(const ClusterChoice& choice) {
  return load_hardware(choice.hardware, choice.assumptions);
}

Cluster choose_cluster(const ClusterChoice& choice, const Hardware& hardware, int64_t ranks) {
  return cluster_of(hardware, ranks, choice.nodes.value_or(least_nodes(hardware, ranks)));
}

}  // namespace trireme::cli
