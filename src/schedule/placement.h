// Where the stages of a pipeline lie. Stage 0 has the embedding, the last one the head.
#pragma once
#include "schedule/schedule.h"

namespace trireme {

// Stage s on rank s mod ranks: 0 1 2 3 0 1 2 3. With one stage per rank it is the plain pipeline.
StagePlacement loop_placement(int32_t ranks, int32_t stages_per_rank);

// Down and back up, two stages per rank: 0 1 2 3 3 2 1 0. The first rank has both ends of the model.
StagePlacement v_placement(int32_t ranks);

// Two copies of one stage per rank, run from both ends: direction 0 is 0 1 2 3, direction 1 is 3 2 1 0.
StagePlacement two_way_placement(int32_t ranks);

}  // namespace trireme
