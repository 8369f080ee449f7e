// Spans of actions become events of a trace file.
#include "sim/trace.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

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

SimulatedTrace simulated_trace(const SimulationInput& input, const StepSimulation& step,
                               const SimRank& rank) {
  const Program& program = input.programs[rank.program];
  const Timeline& timeline = timeline_of(input, rank.program);
  AxisCalls axes(program, input.cluster);
  SimulatedTrace trace;
  const auto add = [&](std::string name, std::string_view category, const TimelineRow& row, double start_us,
                       double duration_us) {
    trace.rows.try_emplace(row.number, row.name);
    trace.spans.push_back({.name = std::move(name),
                           .category = std::string(category),
                           .rank = rank.rank,
                           .stream = row.number,
                           .start_us = start_us,
                           .duration_us = duration_us});
  };
  add("step", "step", step_row(), 0, step.step_s * 1e6);
  for (const SimSpan& span : rank.spans) {
    const Action& action = timeline.actions[span.action];
    const double start_us = span.start_s * 1e6, whole_us = (span.end_s - span.start_s) * 1e6;
    add(name_of_action(program, action), name_of(action.stream), row_of(program, action), start_us, whole_us);
    if (!action.transfers.empty()) trace.spans.back().bytes = sent_bytes(program, action);
    for (const PredictedCall& call : axes.of(action)) {
      add(name_of_axis_call(call.op, program, action), "axis", row_of(call.axis),
          start_us + call.start * whole_us, (call.end - call.start) * whole_us);
      trace.spans.back().bytes = call.sent_bytes;
    }
  }
  return trace;
}

void write_trace(const std::string& path, const SimulationInput& input, const StepSimulation& step) {
  TraceWriter writer(path);
  for (const SimRank& rank : step.ranks) {
    writer.name_rank(rank.rank, process_name(rank));
    const SimulatedTrace trace = simulated_trace(input, step, rank);
    for (const auto& [number, name] : trace.rows) writer.name_stream(rank.rank, number, name);
    for (const TraceSpan& span : trace.spans) writer.add(span);
  }
  writer.finish();
}

}  // namespace trireme
