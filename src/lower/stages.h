// The chain of blocks cut into the stages of a pipeline.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lower/stage_map.h"

namespace trireme {

// Ranges of blocks, one per stage, first to last; together all blocks, none empty. The blocks
// are the embedding, the layers and the head, so the first stage has the embedding and the last one the head.
// `layers` gives the layers of each stage (parallel.stages); empty: the largest cost of a stage is as small
// as it can be, and among the cuts that reach it the costs are as even as they can be (least sum of squares),
// and among those the last cut comes earliest: early stages hold the activations of most micro-batches. Costs
// are not negative. UserError when there are more stages than blocks, or when `layers` does not fit.
std::vector<BlockRange> cut_stages(std::span<const double> block_costs, int32_t stages,
                                   std::span<const int64_t> layers);

// Likewise of a model of so many layers behind whose head there may be further blocks: they stay with the
// head, with which they may have parameters in common.
std::vector<BlockRange> cut_chain(std::vector<double> block_costs, int64_t model_layers, int32_t stages,
                                  std::span<const int64_t> layers);

}  // namespace trireme
