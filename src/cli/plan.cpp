// `trireme plan`: what a run needs, how fast it is and what it costs on machines that nobody has rented yet;
// with --search, the layout that suits them best.
#include "plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/exit_code.h"
#include "cli/answer_output.h"
#include "cli/cluster_choice.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/overrides.h"
#include "config/ranges.h"
#include "exchange/staged_path.h"
#include "hardware/assumptions.h"
#include "plan/calculators/run_cost.h"
#include "plan/nearest_fit.h"
#include "plan/report.h"
#include "plan/report_json.h"
#include "plan/search.h"
#include "train/machine.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, prices, write;
  ClusterChoice cluster;
  std::optional<int64_t> ranks;
  std::vector<std::string> overrides;
  bool search = false;
  AnswerForm form = AnswerForm::text;
};

// The run's ranks: as given, else one for each device of the nodes where these are given, else the config's.
std::optional<int64_t> ranks_asked(const Options& options, const Hardware& hardware) {
  if (options.ranks || !options.cluster.nodes || hardware.kind == DeviceClass::cpu) return options.ranks;
  const int64_t ranks = *options.cluster.nodes * hardware.devices_per_node;
  if (ranks > kMostRanks)
    fail_user("--nodes {} of {} have {} devices; plans are for up to {} ranks: use {} nodes or fewer",
              *options.cluster.nodes, hardware.name, ranks, kMostRanks,
              kMostRanks / hardware.devices_per_node);
  return ranks;
}

std::optional<Answer> cost_of(const Options& options, const Plan& plan) {
  if (options.prices.empty()) return {};
  const CostInput input{.device = plan.cluster.hardware->name,
                        .devices = plan.devices,
                        .hours = plan.run_hours(),
                        .today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return run_cost(choose_prices(load_prices(options.prices), input), input);
}

void put(const std::string& text) { std::fputs(text.c_str(), stdout); }

int run_plan(const Options& options, const Hardware& hardware) {
  const std::optional<int64_t> ranks = ranks_asked(options, hardware);
  const RunSpec spec = load_config(options.config, options.overrides, ranks);
  if (ranks && !options.ranks)
    fmt::print(stderr, "a rank on each device: parallel.dp_replicate = {}, dp_shard = {}\n",
               spec.parallel.dp_replicate, spec.parallel.dp_shard);
  const int64_t nodes = options.cluster.nodes.value_or(least_nodes(hardware, all_ranks(spec)));
  const Plan plan = make_plan(spec, hardware, nodes);
  std::vector<Fix> fixes;
  if (!plan.fits())
    fixes = nearest_fits(plan, {.more_devices = !options.cluster.nodes, .threads = thread_count({})});
  if (!plan.fits() && fixes.empty() && options.cluster.nodes)
    fixes = nearest_fits(plan, {.more_devices = true, .threads = thread_count({})});
  const std::optional<Answer> cost = cost_of(options, plan);
  put(options.form == AnswerForm::json
          ? plan_json(plan, fixes, cost)
          : plan_text(plan) + (cost ? "\n" + answer_text(*cost) + "\n" : "") + fixes_text(plan, fixes));
  return plan.fits() ? kDone : kUserMistake;
}

// In a comment: a name may have any bytes.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

void write_winner(const Options& options, const RunSpec& base, const Hardware& hardware,
                  const SearchResult& result, StagedPath& staged) {
  const Outcome* winner = result.winner();
  if (winner == nullptr) return;
  std::ofstream file(staged.path());
  file << on_one_line(fmt::format(
              "# {} laid out by trireme plan --search for {} ranks of {}: {}{}", options.config,
              ranks_of(winner->layout), hardware.name, text_of(winner->layout),
              hardware.assumed.empty() ? "" : fmt::format("; assumed {}", fmt::join(hardware.assumed, ", "))))
       << '\n'
       << to_toml(with_layout(base, winner->layout));
  file.close();
  if (!file) fail_env("{}", with_errno(fmt::format("cannot write {}", options.write)));
  staged.publish();
  fmt::print(stderr, "wrote {}\n", options.write);
}

int run_search(const Options& options, const Hardware& hardware) {
  const RunSpec base = load_config(options.config, options.overrides);
  const int64_t ranks = ranks_asked(options, hardware).value_or(all_ranks(base));
  const Cluster cluster = choose_cluster(options.cluster, hardware, ranks);
  std::optional<StagedPath> staged;  // a place that cannot be written to is refused before the search
  if (!options.write.empty()) staged.emplace(options.write, Staged::file);
  const SearchResult result =
      search(base, hardware, {.ranks = ranks, .nodes = cluster.nodes, .threads = thread_count({})});
  if (result.tried.empty())
    fail_user(
        "no layout of {} ranks suits {}: batch.sequences = {} must be a multiple of the data-parallel "
        "ranks; use a number of ranks or a batch with more divisors in common",
        ranks, options.config, base.batch.sequences);
  put(options.form == AnswerForm::json ? search_json(result, cluster) : search_text(result, base, cluster));
  if (staged) write_winner(options, base, hardware, result, *staged);
  return result.winner() != nullptr ? kDone : kUserMistake;
}

int run(const Options& options) {
  if (!options.write.empty() && !options.search)
    fail_user("--write {} needs --search, whose first choice is written", options.write);
  if (!options.prices.empty() && options.search)
    fail_user("--prices {} is for a plan, not for --search: plan the config that --write wrote",
              options.prices);
  const Hardware hardware = hardware_of(options.cluster);
  return options.search ? run_search(options, hardware) : run_plan(options, hardware);
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "plan", "Says what a run needs and how fast it is on given machines, or searches its best layout");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config, "TOML file")->required();
  add_cluster(*command, options->cluster);
  command
      ->add_option(
          "--ranks,--gpus", options->ranks,
          "ranks in all, spread as trireme train spreads them; unless given, one for each GPU of --nodes, "
          "or what the config says")
      ->check(between(1, kMostRanks));
  command->add_flag("--search", options->search,
                    "find the fastest layout at this global batch and these ranks");
  command->add_option("--write", options->write,
                      "with --search: where the config with the first choice goes; there must be none yet");
  command->add_option("--prices", options->prices,
                      "TOML file of prices that you keep; see docs/prices-example.toml");
  add_json(*command, options->form);
  add_overrides(*command, options->overrides);
  command->footer(
      "Exit code 2: it does not fit, or what was asked is a mistake.\n"
      "Example: trireme plan configs/qwen3-0.6b.toml --cluster h100-sxm --nodes 1 --search --write "
      "best.toml");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
