// How long a pipeline's step is and what it holds, from the schedule's own table and without a Program.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "config/parallel.h"

namespace trireme {

// Times of the slowest stage for one micro-batch.
struct StageTimes {
  double forward_s = 0, input_s = 0, weight_s = 0;
};

struct PipelineShape {
  PipelineSchedule schedule{};
  int64_t ranks = 1, stages_per_rank = 1, micro_batches = 1;
};

struct PipelineLength {
  double length_s = 0;         // from the first step to the last
  std::vector<double> stored;  // by rank: stages x micro-batches whose activations are held at once
};

// nullopt where the schedule refuses the shape. Of a long step two shorter ones are timed and prolonged: in
// the middle of a step every further round of micro-batches is like the one before.
std::optional<PipelineLength> pipeline_length(const PipelineShape& shape, const StageTimes& times);

}  // namespace trireme
