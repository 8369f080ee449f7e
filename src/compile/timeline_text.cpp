// Columns: number, stream, action, what it works on, micro-batch, what it waits for.
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

std::string subject_of(const Program& program, const Action& action) {
  if (action.unit.valid()) return program.unit(action.unit).name;
  if (action.transfers.empty()) return "";
  const Transfer& first = action.transfers[0];
  return program.buffer(first.op == CommOp::send ? first.from.buffer : first.to.buffer).name;
}

std::string timelines_text(const Program& program) {
  std::string text;
  for (const Timeline& timeline : program.timelines) {
    text += fmt::format("timeline {}: {} micro-batches, {} actions\n", timeline.name, timeline.micro_batches,
                        timeline.actions.size());
    for (size_t i = 0; i < timeline.actions.size(); ++i) {
      const Action& action = timeline.actions[i];
      text += fmt::format("{:6} {:8} {:16} {:32}", i, name_of(action.stream), name_of(action.kind),
                          subject_of(program, action));
      if (action.micro_batch >= 0) text += fmt::format(" mb {}", action.micro_batch);
      for (const ActionId id : action.waits) text += fmt::format(" after {}", id.index);
      while (text.back() == ' ') text.pop_back();
      text += '\n';
    }
  }
  return text;
}

}  // namespace trireme
