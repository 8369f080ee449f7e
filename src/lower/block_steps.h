// A schedule's rows, opened up: what happens block by block, and which parameters and gradients each of these
// steps touches. Lowering reads off here when a group's weights must be there and when its gradient is whole.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "lower/chain.h"
#include "lower/sharding.h"
#include "schedule/schedule.h"

namespace trireme {

struct BlockStep {
  ActionKind kind = ActionKind::forward;
  size_t block = 0;
  int32_t micro_batch = 0;
  bool packs = false;           // reads prepared values
  std::vector<size_t> reads;    // groups whose weights it reads, directly or packed
  std::vector<size_t> adds_to;  // groups whose gradient it adds to
};

// Blocks first to last for a forward, last to first for a backward.
std::vector<BlockStep> block_steps(const Program& program, const Chain& chain,
                                   const std::vector<ScheduleStep>& rows);

// By step: the groups whose gathered weights are not kept from an earlier step, so that they are fetched for
// this one. Below zero 3 weights are kept over the timeline; with it, from a step to the next one alone, or
// from forward to backward without reshard_after_forward.
std::vector<std::vector<size_t>> plan_fetches(const std::vector<BlockStep>& steps, const Sharding& sharding);

}  // namespace trireme
