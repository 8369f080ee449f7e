// The three layouts of stages over ranks.
#include "schedule/placement.h"

namespace trireme {

StagePlacement loop_placement(int32_t ranks, int32_t stages_per_rank) {
  std::vector<int32_t> rank_of;
  for (int32_t s = 0; s < ranks * stages_per_rank; ++s) rank_of.push_back(s % ranks);
  return {ranks, {rank_of}};
}

StagePlacement v_placement(int32_t ranks) {
  std::vector<int32_t> rank_of;
  for (int32_t s = 0; s < 2 * ranks; ++s) rank_of.push_back(s < ranks ? s : 2 * ranks - 1 - s);
  return {ranks, {rank_of}};
}

StagePlacement two_way_placement(int32_t ranks) {
  std::vector<int32_t> down, up;
  for (int32_t s = 0; s < ranks; ++s) {
    down.push_back(s);
    up.push_back(ranks - 1 - s);
  }
  return {ranks, {down, up}};
}

}  // namespace trireme
