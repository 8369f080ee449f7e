// Groups, their uses, and the copies of stages.
#include "lower/gradient_slots.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

// The lanes of the directions in which this rank runs the block, and who runs the others.
GradientSlot slot_of(size_t group, size_t block, const StageMap& map, int64_t lanes) {
  const int32_t directions = map.placement.directions();
  CHECK(lanes % directions == 0, "{} lanes in {} directions", lanes, directions);
  GradientSlot slot{group, block, 0, 0, -1};
  for (int32_t d = 0; d < directions; ++d) {
    const int32_t rank = rank_of_block(map, block, d);
    if (rank != map.rank) {
      slot.other_copy = rank;
      continue;
    }
    if (slot.lanes == 0) slot.first_lane = d * (lanes / directions);
    slot.lanes += lanes / directions;
  }
  return slot;
}

}  // namespace

std::vector<GradientSlot> gradient_slots(const std::vector<GroupPlan>& groups, const StageMap& map,
                                         int64_t lanes) {
  std::vector<GradientSlot> slots;
  for (size_t g = 0; g < groups.size(); ++g)
    for (const size_t block : groups[g].uses)
      if (holds(map, block)) slots.push_back(slot_of(g, block, map, lanes));
  return slots;
}

size_t slot_at(const std::vector<GradientSlot>& slots, size_t group, size_t block) {
  const auto slot = std::lower_bound(
      slots.begin(), slots.end(), std::pair(group, block),
      [](const GradientSlot& s, const auto& at) { return std::pair(s.group, s.block) < at; });
  CHECK(slot != slots.end() && slot->group == group && slot->block == block,
        "block {} adds to group {}, which has no slot for it", block, group);
  return static_cast<size_t>(slot - slots.begin());
}

}  // namespace trireme
