// The schedule of a single stage.
#include "schedule/schedule.h"

namespace trireme {

ScheduleTable accumulate(int32_t micro_batches) {
  ScheduleTable table(1);
  for (int32_t m = 0; m < micro_batches; ++m) {
    table[0].push_back({0, StepKind::forward, m});
    table[0].push_back({0, StepKind::backward, m});
  }
  return table;
}

}  // namespace trireme
