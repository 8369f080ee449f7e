// A way to spread one run over ranks: what the planner changes of a config, and nothing else. The global
// batch, the model and the numbers of the run stay.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/run_spec.h"

namespace trireme {

struct Layout {
  ParallelSpec parallel;
  int64_t micro = 1;  // batch.micro
};

Layout layout_of(const RunSpec& spec);
int64_t ranks_of(const Layout& layout);
int64_t data_parallel_of(const Layout& layout);

// Whether batch.lanes is not what follows from the data-parallel ranks.
bool has_fixed_lanes(const RunSpec& spec);

// batch.lanes is what the user fixed, else follows the data-parallel ranks. Through the config's own door:
// UserError where the layout does not suit the run.
RunSpec with_layout(const RunSpec& base, const Layout& layout);

// Whether gradients are summed, and so cut, after each micro-batch.
bool sums_each_micro_batch(const Layout& layout);

// "zero 1 over 8, tp 4, pp 2 interleaved x 2, micro 2": without what is not used.
std::string text_of(const Layout& layout);

// From the simplest up, as the planner offers them.
enum class Rung : uint8_t {
  replicated,
  zero1,
  zero2,
  zero3,
  tensor,    // tp inside a node
  expert,    // ep, with or without tp
  pipeline,  // pp, with or without the ones above
  context,   // cp beside any of them
  spanning,  // tp across nodes: a last resort
};
inline constexpr int kRungs = 9;
std::string_view name_of(Rung rung);
Rung rung_of(const Layout& layout, int64_t devices_per_node);

// How much there is to understand and to go wrong; smaller is simpler. Ties in speed go by it.
int64_t complexity(const Layout& layout, int64_t devices_per_node);

}  // namespace trireme
