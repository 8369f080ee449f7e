// A layout that was compiled and simulated, and what of its plan a comparison needs.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"

namespace trireme {

struct Outcome {
  Layout layout;
  int64_t devices = 1;
  RankMemory fullest;
  int64_t missing_bytes = 0;  // 0 or less: it fits
  double step_s = 0, tokens_per_s = 0, mfu = 0, hfu = 0;
  std::array<double, kTimeParts> parts{};  // seconds of the busiest rank
  bool fits() const { return missing_bytes <= 0; }
  double part(TimePart which) const { return parts[static_cast<size_t>(which)]; }
  double part_share(TimePart which) const { return part(which) / step_s; }
};

Outcome outcome_of(const Plan& plan);

// What compiling and simulating takes, in blocks of micro-batches; each rank of a pipeline counts for some
// more, for what a program has once.
int64_t work_of(const RunSpec& base, const Layout& layout);

// By layout, in its order, on `threads` threads; nullopt where the config's door, the schedule or the nodes
// refuse it. nodes: 0 for as many as it needs.
std::vector<std::optional<Outcome>> try_layouts(const RunSpec& base, const std::vector<Layout>& layouts,
                                                const Hardware& hardware, int64_t nodes, int threads);

}  // namespace trireme
