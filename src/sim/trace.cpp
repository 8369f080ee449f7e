// Spans of actions become events of a trace file.
#include "sim/trace.h"

#include <fmt/format.h>

#include <map>

#include "compile/comm_report.h"
#include "compile/timeline_rows.h"
#include "sim/axis_calls.h"

namespace trireme {

std::string process_name(const SimRank& rank) {
  std::string name = fmt::format("rank {}", rank.rank);
  if (rank.stands_for > 1) name += fmt::format(", stands for {}", rank.stands_for);
  if (rank.slowdown != 1) name += fmt::format(", {} times as slow", rank.slowdown);
  return name;
}

std::vector<TraceSpan> trace_spans(const SimulationInput& input, const StepSimulation& step,
                                   const SimRank& rank) {
  const Program& program = input.programs[rank.program];
  const Timeline& timeline = timeline_of(input, rank.program);
  AxisCalls axes(program, input.cluster);
  std::vector<TraceSpan> spans;
  spans.reserve(rank.spans.size() + 1);
  spans.push_back({.name = "step",
                   .category = "step",
                   .rank = rank.rank,
                   .stream = step_row().number,
                   .duration_us = step.step_s * 1e6});
  for (const SimSpan& span : rank.spans) {
    const Action& action = timeline.actions[span.action];
    spans.push_back({.name = name_of_action(program, action),
                     .category = std::string(name_of(action.stream)),
                     .rank = rank.rank,
                     .stream = row_of(program, action).number,
                     .start_us = span.start_s * 1e6,
                     .duration_us = (span.end_s - span.start_s) * 1e6});
    if (!action.transfers.empty()) spans.back().bytes = sent_bytes(program, action);
    const TraceSpan whole = spans.back();
    for (const PredictedCall& call : axes.of(action))
      spans.push_back({.name = name_of_axis_call(call.op, program, action),
                       .category = "axis",
                       .rank = rank.rank,
                       .stream = row_of(call.axis).number,
                       .start_us = whole.start_us + call.start * whole.duration_us,
                       .duration_us = (call.end - call.start) * whole.duration_us,
                       .bytes = call.sent_bytes});
  }
  return spans;
}

void write_trace(const std::string& path, const SimulationInput& input, const StepSimulation& step) {
  TraceWriter writer(path);
  for (const SimRank& rank : step.ranks) {
    writer.name_rank(rank.rank, process_name(rank));
    const Program& program = input.programs[rank.program];
    AxisCalls axes(program, input.cluster);
    std::map<int64_t, std::string> rows = {{step_row().number, step_row().name}};
    for (const Action& action : timeline_of(input, rank.program).actions) {
      const TimelineRow row = row_of(program, action);
      rows.try_emplace(row.number, row.name);
      for (const PredictedCall& call : axes.of(action))
        rows.try_emplace(row_of(call.axis).number, row_of(call.axis).name);
    }
    for (const auto& [number, name] : rows) writer.name_stream(rank.rank, number, name);
    for (const TraceSpan& span : trace_spans(input, step, rank)) writer.add(span);
  }
  writer.finish();
}

}  // namespace trireme
