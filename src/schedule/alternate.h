// The row of a rank that goes forward for a while, then forward and back in turn, then back. Six of the
// schedules are this with different orders and lengths.
#pragma once
#include <optional>
#include <span>

#include "schedule/schedule.h"

namespace trireme {

struct Turn {
  int32_t stage = 0;
  int32_t micro_batch = 0;
};

struct Alternation {
  std::vector<Turn> forwards, backwards;  // of this rank, in order
  int32_t warmup = 0;                     // forwards before the first pair of one forward, one backward
  // Splits each backward: the weight part stays so many input parts behind, and what is left then comes last.
  // Not set: backwards are whole.
  std::optional<int32_t> weight_lag;
};

std::vector<ScheduleStep> alternate(const Alternation& order);

// The turns of a rank in groups of `ranks` micro-batches, each group through all of the rank's stages before
// the next begins: for rank 0 of 2 with stages 0 and 2, 0:0 0:1 2:0 2:1 0:2 0:3 2:2 2:3. Backwards take the
// stages from the last. The micro-batches are rounded up to whole groups; drop_padding removes the rest.
enum class StageOrder : uint8_t { ascending, descending };
std::vector<Turn> grouped_turns(const ScheduleInput& input, int32_t rank, StageOrder order);

// Removes the steps of micro-batches that are not there. What is left keeps its order, so a row that was free
// of deadlock stays so.
void drop_padding(std::vector<ScheduleStep>& row, int32_t micro_batches);

}  // namespace trireme
