// How long a pipeline's step is and what it holds, from the schedule's own table and without a Program.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "config/parallel.h"

namespace trireme {

// Of the slowest stage for one micro-batch.
struct StageCosts {
  double forward_s = 0, input_s = 0, weight_s = 0;
  double held = 0;  // bytes that wait from the input to the weight part, over those saved by the forward
};

struct PipelineShape {
  PipelineSchedule schedule{};
  int64_t ranks = 1, stages_per_rank = 1, micro_batches = 1;
};

struct PipelineLength {
  double length_s = 0;         // from the first step to the last
  std::vector<double> stored;  // by rank: stages x micro-batches whose saved activations are there at once,
                               // and what is held beside them, in the same measure
  bool split = false;          // backward runs in two parts
};

// nullopt where the schedule refuses the shape. Of a long step two shorter ones are timed and prolonged: in
// the middle of a step every further round of micro-batches is like the one before.
std::optional<PipelineLength> pipeline_length(const PipelineShape& shape, const StageCosts& costs);

}  // namespace trireme
