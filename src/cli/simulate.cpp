// `trireme simulate`: a training step on machines that need not be there.
#include "sim/simulate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/cluster_choice.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/overrides.h"
#include "cli/simulated.h"
#include "plan/calculators/worked.h"
#include "sim/disturbances.h"
#include "sim/draw.h"
#include "sim/failures.h"
#include "sim/rates.h"
#include "sim/trace.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, trace, color = "never";
  ClusterChoice cluster;
  std::vector<std::string> slow, link, fail, overrides;
  std::optional<double> mtbf_hours;
  double restart_s = 300;
  int64_t width = 100;
  std::optional<int64_t> ranks;
  AnswerForm form = AnswerForm::text;
};

constexpr double kLeastSlower = 1e-6, kMostSlower = 1e6;  // of links, all causes together

// What of it is one cause, with its words: each is simulated alone, and then all at once.
struct Cause {
  std::string text;
  Disturbance disturbance;
};

std::vector<Cause> causes_of(const Options& options, int64_t ranks) {
  std::vector<Cause> causes;
  for (const std::string& text : options.slow)
    causes.push_back({"--slow " + text, {.slow = {parse_slow(text, ranks)}}});
  for (const std::string& text : options.link) {
    causes.push_back({"--link " + text, {}});
    parse_link(text, causes.back().disturbance);
  }
  return causes;
}

Disturbance all_of(const std::vector<Cause>& causes) {
  Disturbance all;
  for (const Cause& cause : causes) {
    all.slow.insert(all.slow.end(), cause.disturbance.slow.begin(), cause.disturbance.slow.end());
    all.inside_slower *= cause.disturbance.inside_slower;
    all.between_slower *= cause.disturbance.between_slower;
  }
  for (const double slower : {all.inside_slower, all.between_slower})
    if (!(slower >= kLeastSlower && slower <= kMostSlower))
      fail_user("--link: all factors together are {:g}; they must be from {:g} to {:g}: give fewer",
                1 / slower, 1 / kMostSlower, 1 / kLeastSlower);
  return all;
}

void find_causes(Simulated& found, SimulationInput input, const std::vector<Cause>& causes, double all_s) {
  if (causes.empty()) return;
  input.disturbance = {};
  found.undisturbed_s = simulate_step(input).step_s;
  for (const Cause& cause : causes) {
    input.disturbance = cause.disturbance;
    found.causes.push_back({cause.text, causes.size() == 1 ? all_s : simulate_step(input).step_s});
  }
}

void find_failures(Simulated& found, const Options& options, const std::vector<RunFailure>& failures,
                   const RunShape& run) {
  if (failures.empty() && !options.mtbf_hours) return;
  found.saves_are_free = run.committed_s == 0;
  found.no_failures = time_of_run(run);
  found.failures = failures.size();
  if (!failures.empty()) found.with_failures = time_of_run(run, failures);
  if (!options.mtbf_hours) return;
  const double mtbf_s = *options.mtbf_hours * kHour_s / static_cast<double>(found.ranks);
  const double total_s = expected_run_s(run, {mtbf_s, options.restart_s});
  found.expected = {*options.mtbf_hours, total_s, found.no_failures->steps_s / total_s};
}

std::string report(const Options& options, const Simulated& found, const SimulationInput& input,
                   const StepSimulation& step) {
  const std::string drawing = draw(input, step,
                                   {.columns = static_cast<size_t>(options.width),
                                    .paint = options.color == "always" ? Paint::colors : Paint::plain});
  return step_text(found, input.cluster, step) + drawing + "\n" + rank_table(input, step) +
         costs_text(found, step);
}

int run(const Options& options) {
  const double start = seconds_now();
  const RunSpec spec = load_config(options.config, options.overrides, options.ranks);
  const int64_t ranks = all_ranks(spec);
  const std::vector<Cause> causes = causes_of(options, ranks);
  std::vector<RunFailure> failures;
  for (const std::string& text : options.fail) failures.push_back(parse_failure(text, spec.run.steps, ranks));
  const Hardware hardware = hardware_of(options.cluster);
  SimulationInput input;
  input.cluster = choose_cluster(options.cluster, hardware, ranks);
  input.programs = pipeline_programs(spec, compile_options(spec, input.cluster));
  input.disturbance = all_of(causes);
  if (input.disturbance.between_slower != 1 && input.cluster.nodes == 1)
    fail_user("--link between: all {} ranks are on one node of {}; give --nodes 2 or more, or --link inside:",
              ranks, hardware.name);
  const StepSimulation step = simulate_step(input);
  Simulated found{.ranks = ranks, .rates = rates_of(spec, input.cluster, step.step_s)};
  find_causes(found, input, causes, step.step_s);
  find_failures(found, options, failures, shape_of_run(spec, input.programs, input.cluster, step.step_s));
  std::fputs(options.form == AnswerForm::json ? to_json(found, input, step).c_str()
                                              : report(options, found, input, step).c_str(),
             stdout);
  if (!options.trace.empty()) {
    write_trace(options.trace, input, step);
    fmt::print(options.form == AnswerForm::json ? stderr : stdout,
               "\nthe trace is in {}: open it at ui.perfetto.dev\n", options.trace);
  }
  std::fflush(stdout);
  fmt::print(stderr, "simulated in {:.2f} s; ranks: {}, of which {} differ\n", seconds_now() - start, ranks,
             step.ranks.size());
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Replays a training step on machines that need not be there; touches no device");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config, "TOML file")->required();
  add_cluster(*command, options->cluster);
  command->add_option("--trace", options->trace, "write the step's timelines to this file, for Perfetto");
  command->add_option("--slow", options->slow, "rank=3:1.3x: rank 3 takes 1.3 times as long");
  command->add_option(
      "--link", options->link,
      "between:0.5x, inside:0.5x: links of nodes, of devices in one, have half of their bandwidth");
  command->add_option("--fail", options->fail,
                      "step=120:restart=300s: a rank fails in that step; what the run then takes");
  command->add_option("--mtbf", options->mtbf_hours, "hours between failures of one rank, on average")
      ->check(number_between(1e-3, 1e12));
  command
      ->add_option("--restart", options->restart_s, "seconds from a failure of --mtbf until ranks run again")
      ->capture_default_str()
      ->check(number_between(0, 1e7));
  command->add_option("--width", options->width, "columns of the drawing")
      ->capture_default_str()
      ->check(between(kLeastColumns, 10000));
  command->add_option("--color", options->color, "of the drawing: always, never")
      ->capture_default_str()
      ->check(CLI::IsMember({"always", "never"}));
  add_json(*command, options->form);
  add_overrides(*command, options->overrides);
  add_ranks(*command, options->ranks);
  command->footer("Example: trireme simulate configs/gpt2-124m.toml --cluster h100-sxm --trace step.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
