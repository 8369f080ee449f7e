// Events are told apart by their row and by the first word of their name.
#include "plan/compare/step_totals.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "compile/timeline_rows.h"
#include "sim/axis_calls.h"

namespace trireme {
namespace {

std::string kind_of(const std::string& name) { return name.substr(0, name.find(' ')); }

bool names_update(std::string_view name) {
  for (int k = 0; k < kActionKinds; ++k)
    if (const auto kind = static_cast<ActionKind>(k); is_update(kind) && name == name_of(kind)) return true;
  return false;
}

std::string part_of(const std::string& name) {
  const std::string kind = kind_of(name);
  if (kind == "forward") return kind;
  if (kind.starts_with("backward")) return "backward";
  if (kind == "load") return "loading";
  return names_update(kind) ? "norm and update" : "weights laid out, sums";
}

bool is_axis(const std::string& row) { return row.starts_with("axis "); }
bool is_link(const std::string& row) { return row.starts_with("p2p "); }

double seconds_of(const TimedEvent& event) { return event.end_s - event.start_s; }

// The same move as different ranks have it: a collective by its name, a message by its place in its link's
// order, each with how often it came before on the rank.
class Moves {
 public:
  void begin_rank() { seen_.clear(); }

  void add(const TimedEvent& event) {
    const std::string kind = is_axis(event.row) ? event.row : message_kind(event);
    const std::string what = is_link(event.row) ? "" : event.name;
    const int64_t before = seen_[{event.row, kind, what}]++;
    const auto [at, fresh] = shortest_.try_emplace({event.row, kind, what, before}, seconds_of(event));
    if (!fresh) at->second = std::min(at->second, seconds_of(event));
  }

  std::map<std::string, double> by_kind() const {
    std::map<std::string, double> sums;
    std::map<std::string, std::set<std::string>> links;
    for (const auto& [key, seconds] : shortest_) {
      const auto& [row, kind, what, before] = key;
      sums[kind] += seconds;
      if (is_link(row)) links[kind].insert(row);
    }
    for (const auto& [kind, rows] : links) sums[kind] /= static_cast<double>(rows.size());
    return sums;
  }

 private:
  // A send and its receive are one message.
  static std::string message_kind(const TimedEvent& event) {
    const std::string kind = kind_of(event.name);
    if (kind == name_of(ActionKind::send_act) || kind == name_of(ActionKind::recv_act)) return "activations";
    if (kind == name_of(ActionKind::send_grad) || kind == name_of(ActionKind::recv_grad))
      return "their gradients";
    return kind;
  }

  std::map<std::tuple<std::string, std::string, std::string>, int64_t> seen_;
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, double> shortest_;
};

}  // namespace

std::vector<RankEvents> read_trace(const std::string& text) {
  constexpr double kLongest_s = 1e9;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array()) return {};
  std::map<int32_t, RankEvents> ranks;
  std::map<std::pair<int32_t, int64_t>, std::string> rows;
  try {
    for (const auto& event : json["traceEvents"]) {
      const auto rank = event.at("pid").get<int32_t>();
      const auto phase = event.at("ph").get<std::string>();
      if (event.at("name") == "thread_name")
        rows[{rank, event.at("tid").get<int64_t>()}] = event.at("args").at("name").get<std::string>();
      if (phase != "X") continue;
      const double start_s = event.at("ts").get<double>() / 1e6, dur_s = event.at("dur").get<double>() / 1e6;
      if (!(dur_s >= 0 && dur_s <= kLongest_s && std::abs(start_s) <= kLongest_s)) return {};
      const auto row = rows.find({rank, event.at("tid").get<int64_t>()});
      if (row == rows.end()) return {};
      RankEvents& events = ranks.try_emplace(rank, RankEvents{.rank = rank}).first->second;
      events.events.push_back({row->second, event.at("name").get<std::string>(), start_s, start_s + dur_s});
    }
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  std::vector<RankEvents> list;
  for (auto& [rank, events] : ranks) list.push_back(std::move(events));
  return list;
}

std::vector<RankEvents> events_of(const SimulationInput& input, const StepSimulation& step) {
  std::vector<RankEvents> list;
  for (const SimRank& rank : step.ranks) {
    const Program& program = input.programs[rank.program];
    const Timeline& timeline = timeline_of(input, rank.program);
    AxisCalls axes(program, input.cluster);
    RankEvents events{rank.rank, rank.stands_for, {{"step", "step", 0, step.step_s}}};
    for (const SimSpan& span : rank.spans) {
      const Action& action = timeline.actions[span.action];
      const double whole_s = span.end_s - span.start_s;
      for (const PredictedCall& call : axes.of(action))
        events.events.push_back({row_of(call.axis).name, name_of_axis_call(call.op, program, action),
                                 span.start_s + call.start * whole_s, span.start_s + call.end * whole_s});
      events.events.push_back(
          {row_of(program, action).name, name_of_action(program, action), span.start_s, span.end_s});
    }
    list.push_back(std::move(events));
  }
  return list;
}

StepTotals totals_of(const std::vector<RankEvents>& ranks) {
  StepTotals totals;
  Moves moves;
  double all = 0;
  for (const RankEvents& rank : ranks) all += static_cast<double>(rank.stands_for);
  for (const RankEvents& rank : ranks) {
    moves.begin_rank();
    const double weight = static_cast<double>(rank.stands_for) / all;
    double busy_s = 0, step_s = 0, computed_s = 0;
    for (const TimedEvent& event : rank.events) {
      const double seconds = seconds_of(event);
      if (event.row == "step") step_s += seconds;
      if (event.row == "compute") {
        const std::string part = part_of(event.name);
        totals.compute[part] += weight * seconds;
        computed_s += seconds;
        if (part == "forward" || part == "backward") busy_s += seconds;
      } else if (event.row != "step") {
        moves.add(event);
        if (is_axis(event.row)) busy_s -= seconds;
      }
    }
    totals.step_s += weight * step_s;
    totals.waits_s += weight * (step_s - computed_s);
    totals.busy_s[rank.rank] = busy_s;
  }
  totals.moves = moves.by_kind();
  return totals;
}

StepTotals mean_of(const std::vector<StepTotals>& steps) {
  StepTotals mean;
  const double share = 1 / static_cast<double>(std::max<size_t>(1, steps.size()));
  for (const StepTotals& step : steps) {
    mean.step_s += share * step.step_s;
    mean.waits_s += share * step.waits_s;
    for (const auto& [part, seconds] : step.compute) mean.compute[part] += share * seconds;
    for (const auto& [kind, seconds] : step.moves) mean.moves[kind] += share * seconds;
    for (const auto& [rank, seconds] : step.busy_s) mean.busy_s[rank] += share * seconds;
  }
  return mean;
}

}  // namespace trireme
