// `trireme cost`: money for a run, from the user's price file.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "plan/calculators/human_number.h"
#include "plan/calculators/run_cost.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string prices, device, gpus, hours, save = "60s", restart = "10min";
  std::optional<std::string> provider, currency, preemptions, interval, today;
  AnswerForm form = AnswerForm::text;
};

CostInput read_input(const Options& options) {
  CostInput input{.device = options.device,
                  .devices = read_whole("--gpus", options.gpus),
                  .hours = read_number("--hours", options.hours),
                  .provider = options.provider,
                  .currency = options.currency};
  if (options.preemptions)
    input.interruptions =
        Interruptions{.per_node_hour = read_number("--preemptions", *options.preemptions),
                      .save_s = read_duration("--save", options.save),
                      .restart_s = read_duration("--restart", options.restart, Zero::allowed),
                      .interval_s = options.interval ? read_duration("--interval", *options.interval) : 0};
  else if (options.interval)
    fail_user("--interval {}: it matters only with --preemptions, as --preemptions 0.05", *options.interval);
  input.today = options.today ? read_date("--today", *options.today)
                              : std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return input;
}

int run(const Options& options) {
  const CostInput input = read_input(options);
  const std::vector<Price> prices = load_prices(options.prices);
  print_answer(run_cost(choose_prices(prices, input), input), options.form);
  return 0;
}

}  // namespace

void add_cost(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "cost", "Money for a run, from a price file; spot against on demand, interruptions counted");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command
      ->add_option("--prices", options->prices,
                   "TOML file of prices that you keep; see docs/prices-example.toml")
      ->required();
  command->add_option("--device", options->device, "as the price file names it")->required();
  command->add_option("--gpus", options->gpus, "devices")->required();
  command->add_option("--hours", options->hours, "wall clock without interruptions, as `trireme hours` says")
      ->required();
  command->add_option("--provider", options->provider, "only its prices");
  command->add_option("--currency", options->currency, "only prices in it");
  command->add_option("--preemptions", options->preemptions, "of one spot node, per hour");
  command->add_option("--save", options->save, "how long a save stops the run")->capture_default_str();
  command->add_option("--restart", options->restart, "from a preemption until the run goes on")
      ->capture_default_str();
  command->add_option("--interval", options->interval, "between saves [Daly's for the rate]");
  command->add_option("--today", options->today, "the day that prices' ages are counted to [today]");
  add_json(*command, options->form);
  command->footer(
      "Example: trireme cost --prices docs/prices-example.toml --device h100-sxm --gpus 64 --hours 461 "
      "--preemptions 0.02");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
