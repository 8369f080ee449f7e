// Columns: number, stream, action, unit (of a comm action: what it fills), micro-batch, what it waits for.
#include "compile/timeline_text.h"

#include <fmt/format.h>

#include "schedule/draw.h"

namespace trireme {

std::string pipeline_text(const Schedule& schedule) {
  if (schedule.placement.ranks == 1) return "";
  return fmt::format(
      "pipeline: {} ranks, {} stages, {} micro-batches; a forward is drawn as 1 unit, a backward as 2\n{}\n",
      schedule.placement.ranks, schedule.placement.stages(), schedule.micro_batches, draw(schedule));
}

std::string timelines_text(const Program& program) {
  std::string text;
  for (const Timeline& timeline : program.timelines) {
    text += fmt::format("timeline {}: {} micro-batches, {} actions\n", timeline.name, timeline.micro_batches,
                        timeline.actions.size());
    for (size_t i = 0; i < timeline.actions.size(); ++i) {
      const Action& action = timeline.actions[i];
      const std::string unit = !action.transfers.empty() ? program.buffer(action.transfers[0].to.buffer).name
                               : action.unit.valid()     ? program.unit(action.unit).name
                                                         : "";
      text += fmt::format("{:6} {:8} {:16} {:32}", i, name_of(action.stream), name_of(action.kind), unit);
      if (action.micro_batch >= 0) text += fmt::format(" mb {}", action.micro_batch);
      for (const ActionId id : action.waits) text += fmt::format(" after {}", id.index);
      while (text.back() == ' ') text.pop_back();
      text += '\n';
    }
  }
  return text;
}

}  // namespace trireme
