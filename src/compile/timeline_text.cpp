// Columns: number, stream, action, unit (of a comm action: what it fills), micro-batch, what it waits for.
#include "compile/timeline_text.h"

#include <fmt/format.h>

namespace trireme {

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
