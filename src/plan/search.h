// The best layout of a run on a number of devices: all layouts are guessed (plan/estimate.h), the best of
// them compiled and simulated.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "plan/layouts.h"
#include "plan/outcome.h"

namespace trireme {

struct SearchOptions {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int threads = 1;
  int64_t most_work = 250'000;  // blocks x micro-batches of what is compiled and simulated, about
};

struct SearchResult {
  size_t guessed = 0, refused = 0, too_large = 0;    // layouts; by guess
  std::vector<Outcome> tried;                        // those that fit first, the fastest of them first
  std::array<std::optional<Outcome>, kRungs> rungs;  // the best of each rung: if none fits, the nearest to it
  std::vector<Outcome> around;                       // one decision from the winner

  // The first of `tried`, or nullptr where nothing fits. Among layouts within a hundredth of the fastest it
  // is the simplest.
  const Outcome* winner() const;
};

SearchResult search(const RunSpec& base, const Hardware& hardware, const SearchOptions& options);

}  // namespace trireme
