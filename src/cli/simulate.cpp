// `trireme simulate`: a training step on machines that need not be there.
#include "sim/simulate.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/cluster_choice.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/overrides.h"
#include "hardware/assumptions.h"
#include "plan/calculators/worked.h"
#include "plan/quantities.h"
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
};

constexpr double kNever_s = 1e12;                         // longer than 30,000 years
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

void print_step(const RunSpec& spec, const Cluster& cluster, const StepSimulation& step) {
  const StepRates rates = rates_of(spec, cluster, step.step_s);
  const int64_t ranks = all_ranks(spec);
  fmt::print("{} on {} of {}, {} per node\n", counted(ranks, "rank"), counted(cluster.nodes, "node"),
             cluster.hardware->name, cluster.share.ranks_per_node);
  std::fputs(assumptions_text(*cluster.hardware).c_str(), stdout);
  fmt::print("step {:.4g} s, {:.0f} tokens/s", step.step_s, rates.tokens_per_s);
  if (rates.mfu > 0) fmt::print(", MFU {:.1f} %", 100 * rates.mfu);
  fmt::print("\n\n");
}

void print_cost(const std::string& cause, double step_s, double plain_s) {
  fmt::print("{:<28} step {:.4g} s, undisturbed {:.4g} s: {:+.1f} %\n", cause, step_s, plain_s,
             100 * (step_s / plain_s - 1));
}

void print_causes(SimulationInput input, const std::vector<Cause>& causes, double all_s) {
  if (causes.empty()) return;
  input.disturbance = {};
  const double plain_s = simulate_step(input).step_s;
  std::printf("\n");
  for (const Cause& cause : causes) {
    input.disturbance = cause.disturbance;
    print_cost(cause.text, causes.size() == 1 ? all_s : simulate_step(input).step_s, plain_s);
  }
  if (causes.size() > 1) print_cost("all at once", all_s, plain_s);
}

void print_run(const char* what, const RunTime& time) {
  fmt::print(
      "{:<28} {:.2f} h: steps {:.2f}, saves {:.2f}, done again {:.2f}, restarts {:.2f}; goodput {:.1f} %\n",
      what, time.total_s() / kHour_s, time.steps_s / kHour_s, time.saves_s / kHour_s, time.lost_s / kHour_s,
      time.restarts_s / kHour_s, 100 * time.goodput());
}

void print_failures(const Options& options, const RunSpec& spec, const std::vector<RunFailure>& failures,
                    const RunShape& run) {
  if (failures.empty() && !options.mtbf_hours) return;
  std::printf("\n");
  if (run.committed_s == 0)
    std::printf("saves take no time here: the hardware file has no rate to where checkpoints lie\n");
  print_run("no failures", time_of_run(run));
  if (!failures.empty())
    print_run(failures.size() == 1 ? "with the failure" : "with the failures", time_of_run(run, failures));
  if (!options.mtbf_hours) return;
  const double ranks = static_cast<double>(all_ranks(spec));
  const double expected_s = expected_run_s(run, {*options.mtbf_hours * kHour_s / ranks, options.restart_s});
  const std::string cause =
      fmt::format("{:<28} one failure per {:.4g} h of all ranks",
                  fmt::format("--mtbf {}", *options.mtbf_hours), *options.mtbf_hours / ranks);
  if (expected_s > kNever_s)
    fmt::print("{}: the run never ends, for failures come faster than it gets from one save to the next\n",
               cause);
  else
    fmt::print("{}: {:.2f} h expected; goodput {:.1f} %\n", cause, expected_s / kHour_s,
               100 * time_of_run(run).steps_s / expected_s);
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
  print_step(spec, input.cluster, step);
  std::fputs(draw(input, step,
                  {.columns = static_cast<size_t>(options.width),
                   .paint = options.color == "always" ? Paint::colors : Paint::plain})
                 .c_str(),
             stdout);
  fmt::print("\n{}", rank_table(input, step));
  print_causes(input, causes, step.step_s);
  print_failures(options, spec, failures, shape_of_run(spec, input.programs, input.cluster, step.step_s));
  if (!options.trace.empty()) {
    write_trace(options.trace, input, step);
    fmt::print("\nthe trace is in {}: open it at ui.perfetto.dev\n", options.trace);
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
  add_overrides(*command, options->overrides);
  add_ranks(*command, options->ranks);
  command->footer("Example: trireme simulate configs/gpt2-124m.toml --cluster h100-sxm --trace step.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
