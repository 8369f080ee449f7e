// A file's time 0 is the earliest start of the step on any of its ranks: they share a clock.
#include "train/step_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compile/comm_report.h"
#include "compile/timeline_rows.h"

namespace trireme {

RankTrace trace_of(const Program& program, const Timeline& timeline, const TracedStep& step,
                   std::span<const ActionTime> times, std::span<const AxisCall> calls) {
  CHECK(times.size() == timeline.actions.size(), "{} times of {} actions", times.size(),
        timeline.actions.size());
  RankTrace trace{.step = step, .rows = {}, .spans = {}};
  const auto add = [&](std::string name, std::string_view category, const TimelineRow& row,
                       const ActionTime& time) {
    trace.rows.try_emplace(row.number, row.name);
    trace.spans.push_back({.name = std::move(name),
                           .category = std::string(category),
                           .rank = step.rank,
                           .stream = row.number,
                           .start_us = (time.start_s - step.start_s) * 1e6,
                           .duration_us = (time.end_s - time.start_s) * 1e6});
  };
  add("step", "step", step_row(), {step.start_s, step.end_s});
  for (size_t i = 0; i < times.size(); ++i) {
    const Action& action = timeline.actions[i];
    add(name_of_action(program, action), name_of(action.stream), row_of(program, action), times[i]);
    if (!action.transfers.empty()) trace.spans.back().bytes = sent_bytes(program, action);
  }
  for (const AxisCall& call : calls) {
    add(name_of_axis_call(call.op, program, timeline.actions[call.action]), "axis", row_of(call.axis),
        call.time);
    trace.spans.back().bytes = call.sent_bytes;
  }
  return trace;
}

void StepTraces::add(int64_t step, RankTrace trace) {
  const std::lock_guard lock(mutex_);
  ByRank& ranks = open_[step];
  const int32_t rank = trace.step.rank;
  ranks[rank] = std::move(trace);
  if (ranks.size() < static_cast<size_t>(here_.count)) return;
  write(step, ranks);
  open_.erase(step);
}

void StepTraces::write(int64_t step, const ByRank& ranks) const {
  double origin_s = ranks.begin()->second.step.start_s;
  for (const auto& [rank, trace] : ranks) origin_s = std::min(origin_s, trace.step.start_s);
  const std::string part = here_.first == 0 ? "" : fmt::format(".rank-{}", here_.first);
  TraceWriter writer(fmt::format("{}/step-{:08}{}.json", folder_, step, part));
  for (const auto& [rank, trace] : ranks) {
    writer.name_rank(rank, fmt::format("rank {}", rank));
    for (const auto& [row, name] : trace.rows) writer.name_stream(rank, row, name);
    const double later_us = (trace.step.start_s - origin_s) * 1e6;
    for (TraceSpan span : trace.spans) {
      span.start_us += later_us;
      writer.add(span);
    }
  }
  writer.finish();
}

}  // namespace trireme
