// The table of schedules by name, with what each asks for.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace trireme {

struct ScheduleDef {
  std::string_view name;  // the value of parallel.schedule
  Schedule (*make)(const ScheduleInput& input);
  int32_t least_stages_per_rank = 1;
  int32_t most_stages_per_rank = 1;
  int32_t ranks_multiple = 1;                // ranks are a multiple of this
  int32_t micro_batches_multiple = 1;        // and so are micro-batches,
  int32_t least_micro_batches_per_rank = 0;  // of which there are at least so many x ranks (and one at all)
};

struct ScheduleRefusal {
  std::string why;      // key, value and cure
  ScheduleInput works;  // the input with the refused field at the least larger value that passes its rule
                        // (the greatest, where a smaller one is asked for)
};

std::span<const ScheduleDef> schedules();

// Null when there is none of that name.
const ScheduleDef* find_schedule(std::string_view name);

// The first rule that the input breaks, or nothing. All fields are 1 or more.
std::optional<ScheduleRefusal> refuse(const ScheduleDef& def, const ScheduleInput& input);

// The schedule of that name. UserError when there is none or it refuses the input.
Schedule make_schedule(std::string_view name, const ScheduleInput& input);

}  // namespace trireme
