// The one checker of schedules, whether ours or read from a file.
#pragma once
#include <string>

#include "schedule/schedule.h"

namespace trireme {

enum class ScheduleUse : uint8_t { training, evaluation };

// Why the schedule cannot run; "" when it can. Looked at in this order: every stage and micro-batch exists
// and runs on its own rank; nothing is missing or doubled and forward, input part and weight part follow each
// other (find_fault of schedule.h); steps that run at once are a forward and a backward of different
// micro-batches; and no ranks wait for each other for ever, where each step blocks its rank until the
// neighbouring stage has done its part.
std::string find_fault(const Schedule& schedule, ScheduleUse use);

// Why the sums of weight gradients would differ in their bits from those of one rank; "" when they do not.
// The step's micro-batches are cut into `lanes` equal runs (batch.lanes over the data-parallel degree), each
// is summed in order within one copy of a stage, and the runs are added in a tree. For a schedule in which
// find_fault finds nothing.
std::string find_sum_fault(const Schedule& schedule, int32_t lanes);

}  // namespace trireme
