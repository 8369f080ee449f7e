// Seconds of steps, hours of runs; JSON has all in seconds.
#include "cli/simulated.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/assumptions.h"
#include "plan/calculators/worked.h"
#include "plan/json_parts.h"
#include "plan/quantities.h"
#include "sim/activations.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string cost_text(const std::string& cause, double step_s, double plain_s) {
  return fmt::format("{:<28} step {:.4g} s, undisturbed {:.4g} s: {:+.1f} %\n", cause, step_s, plain_s,
                     100 * (step_s / plain_s - 1));
}

std::string run_text(const char* what, const RunTime& time) {
  return fmt::format(
      "{:<28} {:.2f} h: steps {:.2f}, saves {:.2f}, done again {:.2f}, restarts {:.2f}; goodput {:.1f} %\n",
      what, time.total_s() / kHour_s, time.steps_s / kHour_s, time.saves_s / kHour_s, time.lost_s / kHour_s,
      time.restarts_s / kHour_s, 100 * time.goodput());
}

std::string expected_text(const ExpectedRun& run, int64_t ranks) {
  const std::string cause =
      fmt::format("{:<28} one failure per {:.4g} h of all ranks", fmt::format("--mtbf {}", run.mtbf_hours),
                  run.mtbf_hours / static_cast<double>(ranks));
  if (run.total_s >= kNever_s)
    return cause + ": the run never ends, for failures come faster than it gets from one save to the next\n";
  return fmt::format("{}: {:.2f} h expected; goodput {:.1f} %\n", cause, run.total_s / kHour_s,
                     100 * run.goodput);
}

Json run_json(const RunTime& time) {
  return {{"total_s", time.total_s()}, {"steps_s", time.steps_s},       {"saves_s", time.saves_s},
          {"lost_s", time.lost_s},     {"restarts_s", time.restarts_s}, {"goodput", time.goodput()}};
}

Json rank_json(const SimulationInput& input, const SimRank& rank) {
  const ActivationPeak peak = activation_peak(input.programs[rank.program], timeline_of(input, rank.program));
  return {{"rank", rank.rank},
          {"stands_for", rank.stands_for},
          {"parts_s", times_json(rank.parts)},
          {"micro_batches_in_flight", peak.micro_batches},
          {"activation_bytes", peak.bytes}};
}

}  // namespace

std::string step_text(const Simulated& found, const Cluster& cluster, const StepSimulation& step) {
  std::string text =
      fmt::format("{} on {} of {}, {} per node\n", counted(found.ranks, "rank"),
                  counted(cluster.nodes, "node"), cluster.hardware->name, cluster.share.ranks_per_node);
  text += assumptions_text(*cluster.hardware);
  text += fmt::format("step {:.4g} s, {:.0f} tokens/s", step.step_s, found.rates.tokens_per_s);
  if (found.rates.mfu > 0) text += fmt::format(", MFU {:.1f} %", 100 * found.rates.mfu);
  return text + "\n\n";
}

std::string costs_text(const Simulated& found, const StepSimulation& step) {
  std::string text;
  if (!found.causes.empty()) text += "\n";
  for (const CauseCost& cause : found.causes)
    text += cost_text(cause.cause, cause.step_s, found.undisturbed_s);
  if (found.causes.size() > 1) text += cost_text("all at once", step.step_s, found.undisturbed_s);
  if (!found.no_failures) return text;
  text += "\n";
  if (found.saves_are_free)
    text += "saves take no time here: the hardware file has no rate to where checkpoints lie\n";
  text += run_text("no failures", *found.no_failures);
  if (found.with_failures)
    text += run_text(found.failures == 1 ? "with the failure" : "with the failures", *found.with_failures);
  if (found.expected) text += expected_text(*found.expected, found.ranks);
  return text;
}

std::string to_json(const Simulated& found, const SimulationInput& input, const StepSimulation& step) {
  Json json = {{"cluster", cluster_json(input.cluster)},
               {"ranks", found.ranks},
               {"step_s", step.step_s},
               {"tokens_per_s", found.rates.tokens_per_s},
               {"mfu", found.rates.mfu}};
  for (const SimRank& rank : step.ranks) json["each"].push_back(rank_json(input, rank));
  if (!found.causes.empty()) json["undisturbed_step_s"] = found.undisturbed_s;
  for (const CauseCost& cause : found.causes)
    json["causes"].push_back({{"cause", cause.cause}, {"step_s", cause.step_s}});
  if (found.no_failures) json["no_failures"] = run_json(*found.no_failures);
  if (found.with_failures) json["with_failures"] = run_json(*found.with_failures);
  if (found.expected) {
    const bool ends = found.expected->total_s < kNever_s;
    json["expected"] = {{"mtbf_hours", found.expected->mtbf_hours},
                        {"total_s", ends ? Json(found.expected->total_s) : Json()},
                        {"goodput", ends ? found.expected->goodput : 0}};
  }
  return json.dump(2) + "\n";
}

}  // namespace trireme::cli
