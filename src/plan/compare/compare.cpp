// Parts of a step that add up to it, on both sides: from traces where there are any, else from what metrics
// tell apart.
#include "plan/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "sim/failures.h"
#include "sim/rates.h"

namespace trireme {
namespace {

constexpr double kNotRecorded = std::numeric_limits<double>::quiet_NaN();
constexpr double kSlowRank = 1.25;  // of what the others take for the same work
constexpr double kHolds = 0.05;     // of the step: less is called no difference

double at(const std::map<std::string, double>& sums, const std::string& key) {
  const auto found = sums.find(key);
  return found == sums.end() ? 0 : found->second;
}

// What rank 0's compute waits for.
double exposed_s(const StepSimulation& step) {
  double sum = 0;
  for (const TimePart part :
       {TimePart::tp, TimePart::cp, TimePart::ep, TimePart::pp, TimePart::dp, TimePart::bubble})
    sum += step.ranks[0].part(part);
  return sum;
}

class Comparer {
 public:
  Comparer(const RunSpec& spec, const Prediction& prediction, const RunRecord& run,
           const std::map<int64_t, StepTotals>& traced)
      : spec_(spec), prediction_(prediction), run_(run), traced_(traced) {
    std::set<int64_t> unusual;  // tracing waits for the device at every action
    for (const auto& [step, totals] : traced) unusual.insert(step);
    unusual.insert(spec.run.trace_steps.begin(), spec.run.trace_steps.end());
    usual_ = usual_step(run, unusual);
  }

  Comparison result() {
    add_step();
    add_memory();
    if (traced_.empty())
      add_metrics_parts();
    else
      add_traced_parts();
    std::ranges::stable_sort(out_.off, {}, [](const Off& off) { return -std::abs(off.seconds); });
    out_.verdict = verdict();
    if (!traced_.empty()) {  // with this all of them add up to the difference of the usual step
      const double extra_s = usual_.step_s - traced_s_;
      off(fmt::format("steps that are not traced take {} less", compared_s(-extra_s)), extra_s);
    }
    return std::move(out_);
  }

 private:
  double predicted_s() const { return prediction_.step.step_s; }
  const std::string& file() const { return prediction_.input.cluster.hardware->name; }

  void add_step() {
    const Cluster& cluster = prediction_.input.cluster;
    const StepRates measured = rates_of(spec_, cluster, usual_.step_s);
    const StepRates predicted = rates_of(spec_, cluster, predicted_s());
    ComparedGroup group{fmt::format("a step (median of {})", usual_.steps), {}};
    group.lines.push_back({"step", usual_.step_s, predicted_s()});
    group.lines.push_back(
        {"throughput", measured.tokens_per_s, predicted.tokens_per_s, ComparedUnit::tokens_per_s});
    if (predicted.mfu > 0)
      group.lines.push_back(
          {"MFU, of the file's peak", 100 * measured.mfu, 100 * predicted.mfu, ComparedUnit::percent});
    group.lines.push_back(
        {"exposed communication, rank 0", usual_.exposed_comm_s, exposed_s(prediction_.step)});
    group.lines.push_back({"loader stall, mean", usual_.loader_stall_s, 0});
    if (usual_.saves > 0)
      group.lines.push_back(
          {"steps wait for a save", usual_.blocked_s,
           shape_of_run(spec_, prediction_.input.programs, cluster, predicted_s()).blocked_s});
    out_.groups.push_back(std::move(group));
  }

  void add_memory() {
    const Program& program = prediction_.input.programs[0];
    out_.groups.push_back(
        {"memory of rank 0",
         {{"allocated", run_.arena_bytes ? static_cast<double>(*run_.arena_bytes) : kNotRecorded,
           static_cast<double>(program.memory.arena_bytes), ComparedUnit::bytes}}});
  }

  void off(std::string text, double seconds) { out_.off.push_back({std::move(text), seconds}); }

  void add_stall() {
    if (usual_.loader_stall_s > 0)
      off(fmt::format("the loader stalled for {} a step; a prediction has none",
                      compared_s(usual_.loader_stall_s)),
          usual_.loader_stall_s);
  }

  std::string at_rate(const std::string& what, double measured, double predicted) const {
    if (predicted <= 0)
      return fmt::format("{} took {}, which {} has at nothing", what, compared_s(measured), file());
    if (measured <= 0)
      return fmt::format("{} took nothing, which {} has at {}", what, file(), compared_s(predicted));
    return fmt::format("{} took {} against {}: it ran at {:.2f} of the rates in {}", what,
                       compared_s(measured), compared_s(predicted), predicted / measured, file());
  }

  void add_metrics_parts() {
    const double waits = exposed_s(prediction_.step);
    const double compute = usual_.step_s - usual_.exposed_comm_s - usual_.loader_stall_s;
    const double predicted = predicted_s() - waits;
    off(at_rate("compute on rank 0", compute, predicted), compute - predicted);
    off(fmt::format("compute on rank 0 waited {} for other ranks, against {}",
                    compared_s(usual_.exposed_comm_s), compared_s(waits)),
        usual_.exposed_comm_s - waits);
    add_stall();
  }

  void add_traced_parts() {
    std::vector<StepTotals> steps;
    double outside_s = 0;
    for (const auto& [number, totals] : traced_) {
      steps.push_back(totals);
      outside_s += outside(number, totals) / static_cast<double>(traced_.size());
    }
    const StepTotals measured = mean_of(steps);
    const StepTotals predicted = totals_of(events_of(prediction_.input, prediction_.step));
    ComparedGroup parts{fmt::format("traced steps ({}), means of all ranks", traced_.size()), {}};
    parts.lines.push_back({"step", measured.step_s, predicted.step_s});
    for (const char* part : {"forward", "backward", "norm and update", "loading", "weights laid out, sums"}) {
      const double m = at(measured.compute, part), p = at(predicted.compute, part);
      parts.lines.push_back({part, m, p});
      if (m != p) off(at_rate(part, m, p), m - p);
    }
    parts.lines.push_back({"waits for other ranks", measured.waits_s, predicted.waits_s});
    off(waits_text(measured, predicted), measured.waits_s - predicted.waits_s);
    parts.lines.push_back({"between steps", outside_s, 0});
    off(fmt::format("{} a step went to what is no part of a program", compared_s(outside_s)), outside_s);
    add_stall();
    traced_s_ = measured.step_s + outside_s + usual_.loader_stall_s;
    out_.groups.push_back(std::move(parts));
    add_moves(measured, predicted);
  }

  // Of a recorded step, what its trace does not have.
  double outside(int64_t number, const StepTotals& totals) const {
    const auto step = std::ranges::find(run_.steps, number, &RecordedStep::step);
    if (step == run_.steps.end()) return 0;
    return std::max(0.0, step->step_s - step->loader_stall_s - totals.step_s);
  }

  void add_moves(const StepTotals& measured, const StepTotals& predicted) {
    std::set<std::string> kinds;
    for (const auto& [kind, seconds] : measured.moves) kinds.insert(kind);
    for (const auto& [kind, seconds] : predicted.moves) kinds.insert(kind);
    if (kinds.empty()) return;
    ComparedGroup moves{"communication that waits for no late rank", {}};
    for (const std::string& kind : kinds)
      moves.lines.push_back({kind, at(measured.moves, kind), at(predicted.moves, kind)});
    out_.groups.push_back(std::move(moves));
  }

  std::string waits_text(const StepTotals& measured, const StepTotals& predicted) const {
    const std::string waits =
        fmt::format("{} against {}", compared_s(measured.waits_s), compared_s(predicted.waits_s));
    if (const auto slow = slow_rank(measured, predicted))
      return fmt::format(
          "ranks waited {}: for rank {}, which took {:.2f} times as long as the others to compute", waits,
          slow->first, slow->second);
    std::string worst;
    double most_s = 0;
    for (const auto& [kind, seconds] : measured.moves)
      if (const double more = seconds - at(predicted.moves, kind); more > most_s) {
        most_s = more;
        worst = kind;
      }
    if (worst.empty()) return fmt::format("compute waited {} for other ranks", waits);
    return fmt::format(
        "compute waited {} for other ranks; of communication by itself, {} was most above {}: {} "
        "against {}",
        waits, worst, file(), compared_s(at(measured.moves, worst)), compared_s(at(predicted.moves, worst)));
  }

  // The rank that took longest for its stage's work by the prediction, when that is far from the others.
  std::optional<std::pair<int32_t, double>> slow_rank(const StepTotals& measured,
                                                      const StepTotals& predicted) const {
    const int32_t per_stage = prediction_.input.programs[0].mesh.ranks_per_stage();
    std::map<int32_t, double> stage_s;
    for (const auto& [rank, seconds] : predicted.busy_s) stage_s.try_emplace(rank / per_stage, seconds);
    std::vector<std::pair<double, int32_t>> ratios;
    for (const auto& [rank, seconds] : measured.busy_s)
      if (const auto stage = stage_s.find(rank / per_stage); stage != stage_s.end() && stage->second > 0)
        ratios.push_back({seconds / stage->second, rank});
    if (ratios.size() < 2) return std::nullopt;
    std::ranges::sort(ratios);
    const double others = ratios[(ratios.size() - 2) / 2].first;
    if (ratios.back().first < kSlowRank * others) return std::nullopt;
    return std::pair(ratios.back().second, ratios.back().first / others);
  }

  std::string verdict() const {
    const double difference = usual_.step_s / predicted_s() - 1;
    std::string text = fmt::format("measured is {:.1f} % {} predicted", 100 * std::abs(difference),
                                   difference < 0 ? "below" : "above");
    if (std::abs(difference) <= kHolds) text += ": the prediction holds";
    const auto same_way = [&](const Off& off) { return (off.seconds < 0) == (difference < 0); };
    const auto most = std::ranges::find_if(out_.off, same_way);
    if (most != out_.off.end()) text += "; most off: " + most->text;
    return text;
  }

  const RunSpec& spec_;
  const Prediction& prediction_;
  const RunRecord& run_;
  const std::map<int64_t, StepTotals>& traced_;
  UsualStep usual_;
  double traced_s_ = 0;  // a traced step, with what is outside of its program
  Comparison out_;
};

}  // namespace

Comparison compare(const RunSpec& spec, const Prediction& prediction, const RunRecord& run,
                   const std::map<int64_t, StepTotals>& traced) {
  return Comparer(spec, prediction, run, traced).result();
}

}  // namespace trireme
