// A schedule's rows, opened up: what happens block by block, and which parameters and gradients each of these
// steps touches. Lowering reads off here when a group's weights must be there and when its gradient is whole.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "lower/chain.h"
#include "lower/gradient_slots.h"
#include "lower/sharding.h"
#include "schedule/schedule.h"

namespace trireme {

// A step adds to the gradient of a lane.
struct Addition {
  size_t slot = 0;
  int64_t lane = 0;
  bool first = false, last = false;  // of the lane in that slot
};

struct BlockStep {
  ActionKind kind = ActionKind::forward;
  size_t row = 0;  // of the schedule
  size_t block = 0;
  int32_t micro_batch = 0;
  bool packs = false;         // reads prepared values
  std::vector<size_t> reads;  // groups whose weights it reads, directly or packed
  std::vector<Addition> adds;
};

struct StepPlan {
  const Chain& chain;
  const StageMap& map;
  const std::vector<GradientSlot>& slots;
  int64_t micro_batches_per_lane = 1;
  BackwardForm form = BackwardForm::whole;  // split: a whole backward runs as its two parts, block by block
};

// Blocks of a stage first to last for a forward, last to first for a way back. A part that has no ops is left
// out.
std::vector<BlockStep> block_steps(const Program& program, const StepPlan& plan,
                                   const std::vector<ScheduleStep>& rows);

// By step: the groups whose gathered weights are not kept from an earlier step, so that they are fetched for
// this one. Below zero 3 weights are kept over the timeline; with it, from a step to the next one alone, or
// from forward to backward without reshard_after_forward.
std::vector<std::vector<size_t>> plan_fetches(const std::vector<BlockStep>& steps, const Sharding& sharding);

}  // namespace trireme
