// All layouts of a run over a number of ranks that are worth a guess: what divides, in powers of two or the
// divisors that there are. What the config's door refuses all the same falls out later.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/layout.h"

namespace trireme {

struct SearchSpace {
  int64_t ranks = 1;
  int64_t devices_per_node = 1;
  bool across_nodes = false;  // tp beyond a node too
};

// In an order that is always the same, recomputation from none to full after each other. Keys that are not
// enumerated (sequence, cp_mode, prefetch, reshard_after_forward, etp, tp_chunks) keep the config's values;
// plan/changes.h turns sequence over.
std::vector<Layout> layouts(const RunSpec& base, const SearchSpace& space);

}  // namespace trireme
