// Which blocks a rank of the pipeline runs: stages are contiguous runs of blocks, and the schedule says on
// which pipeline rank a stage lies for which half of the micro-batches.
#pragma once
#include <vector>

#include "schedule/schedule.h"

namespace trireme {

struct BlockRange {
  size_t first = 0, end = 0;
  bool operator==(const BlockRange&) const = default;
};

struct StageMap {
  StagePlacement placement;
  std::vector<BlockRange> stages;  // blocks of each; together all blocks, in order
  int32_t rank = 0;                // of the pipeline: this one
};

// One rank, one stage.
StageMap one_stage(size_t blocks);

int32_t stage_of(const StageMap& map, size_t block);
// The direction's rank of that block's stage (0 where there is one direction).
int32_t rank_of_block(const StageMap& map, size_t block, int32_t direction);
// Whether this rank runs the block for any micro-batch.
bool holds(const StageMap& map, size_t block);

}  // namespace trireme
