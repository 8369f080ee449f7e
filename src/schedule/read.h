// Schedules from files (parallel.schedule_file).
#pragma once
#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace trireme {

// Reads a table with a line per rank, in one of two forms:
//   text   steps with blanks between them, "0F0 0F1+1B0 0I1 0W1"; + joins two steps that run at once. Empty
//   lines
//          and what follows a # are left out.
//   CSV    as PyTorch's pipeline schedules are dumped (compute steps only): a cell per step, "0F0,,1I0,2W0",
//   empty
//          where the rank waits; "(0F1;1B0)OVERLAP_F_B" for two at once. A file with a comma is CSV.
// Stages, micro-batches and where they lie follow from the steps. A stage lies on one rank, or on two when
// the first half of the micro-batches takes the one and the second half the other. UserError with `name`, the
// line and the cell (both from 1) when a cell is no step or a stage is on too many ranks; and with what
// find_fault says when the schedule cannot run for training.
Schedule read_schedule(std::string_view text, std::string_view name);

// UserError unless the schedule is for the ranks, stages and micro-batches of the run: a file that was cut
// off after a line may still be a sound schedule of fewer.
void require_shape(const Schedule& schedule, std::string_view name, const ScheduleInput& run);

}  // namespace trireme
