// What one block of the model takes and leaves on one rank: its time, its memory and its state. It depends on
// how the inside of a block is cut (tp, cp, ep, micro-batch) and not on the ranks around it, so that the
// estimate of many layouts compiles few small programs.
#pragma once
#include <cstdint>
#include <vector>

#include "config/run_spec.h"
#include "plan/layout.h"
#include "sim/price.h"

namespace trireme {

struct BlockPrice {
  double forward_s = 0, backward_s = 0;  // of a micro-batch, waits for tp, cp and ep among it
  double input_s = 0;                    // of backward_s: the part that leads to the stage before
  double flops = 0;                      // by which stages are cut
  int64_t saved_bytes = 0;               // forward to backward
  int64_t split_saved_bytes = 0;         // likewise, where backward runs in two parts,
  int64_t split_held_bytes = 0;          // and from one part to the other
  int64_t prepared_bytes = 0;            // what kernels have laid out of its parameters
  double prepare_s = 0;
  int64_t elements = 0;  // of its dense parameters on this rank, before they are sharded
  int64_t expert_elements = 0;
};

struct BlockPrices {
  std::vector<BlockPrice> blocks;  // embedding, layers, head
  int64_t boundary_bytes = 0;      // what passes between blocks
  int64_t workspace_bytes = 0;     // the most that a block takes while it runs
  int64_t overhead_bytes = 0;      // batches and sums
  double optimizer_s_per_element = 0;
  double load_s = 0;  // of a micro-batch
};

// UserError where the layout does not suit the run. The split backward is looked at where the layout has a
// pipeline.
BlockPrices price_blocks(const RunSpec& base, const Layout& layout, const Cluster& cluster);

}  // namespace trireme
