// Blocks to stages to ranks.
#include "lower/stage_map.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {

StageMap one_stage(size_t blocks) { return {{1, {{0}}}, {{0, blocks}}, 0}; }

int32_t stage_of(const StageMap& map, size_t block) {
  const auto stage = std::ranges::upper_bound(map.stages, block, {}, &BlockRange::end);
  CHECK(stage != map.stages.end() && stage->first <= block, "block {} is on no stage", block);
  return static_cast<int32_t>(stage - map.stages.begin());
}

int32_t rank_of_block(const StageMap& map, size_t block, int32_t direction) {
  return map.placement
      .rank_of_stage[static_cast<size_t>(direction)][static_cast<size_t>(stage_of(map, block))];
}

bool holds(const StageMap& map, size_t block) {
  for (int32_t d = 0; d < map.placement.directions(); ++d)
    if (rank_of_block(map, block, d) == map.rank) return true;
  return false;
}

}  // namespace trireme
