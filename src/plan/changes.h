// Single steps from a layout to others: what takes less memory, and what lies around.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plan/layout.h"

namespace trireme {

struct KeyChange {
  std::string_view key;       // "parallel.zero"
  std::string before, after;  // as a config has them; "none" of the schedule of no pipeline
};
// The keys in which they differ.
std::vector<KeyChange> changed_keys(const Layout& before, const Layout& after);

// "parallel.zero 1 -> 3, batch.micro 4 -> 2".
std::string change_text(const Layout& before, const Layout& after);

// Layouts over as many ranks that need less memory, by one decision each, the mildest first. Where there are
// no data-parallel ranks to take from, the layout gets more ranks.
std::vector<Layout> smaller_layouts(const Layout& layout, int64_t most_ranks);

// One decision up or down from a layout over as many ranks.
std::vector<Layout> neighbours(const Layout& layout);

}  // namespace trireme
