// Where gradients are summed. A parameter group has one slot, except where several blocks use it (a tied
// embedding): then each use has its own, and the uses are added up last, so that the bits do not depend on
// which ranks and stages the blocks lie on. The micro-batches of a slot are those that its stage runs on this
// rank: all of them, or one half where micro-batches enter a pipeline at both ends.
#pragma once
#include <cstdint>
#include <vector>

#include "lower/chain.h"
#include "lower/param_groups.h"

namespace trireme {

struct GradientSlot {
  size_t group = 0;
  size_t block = 0;  // of the group's uses
  int64_t first_lane = 0, lanes = 1;
  int32_t other_copy = -1;  // pipeline rank that runs the block for the other half of the micro-batches
};

// Of this rank, by group and use. lanes: of a data-parallel rank.
std::vector<GradientSlot> gradient_slots(const std::vector<GroupPlan>& groups, const StageMap& map,
                                         int64_t lanes);

// The place of a group's slot for a block that uses it and that this rank holds.
size_t slot_at(const std::vector<GradientSlot>& slots, size_t group, size_t block);

}  // namespace trireme
