// `trireme interval`: how often a run should save.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "plan/calculators/human_number.h"
#include "plan/calculators/save_interval.h"

namespace trireme::cli {
namespace {

struct Options {
  std::optional<std::string> mtbf, preemptions, interval;
  std::string devices = "1", save, restart = "0s";
  AnswerForm form = AnswerForm::text;
};

double unit_mtbf_s(const Options& options) {
  if (options.mtbf && options.preemptions)
    fail_user("--mtbf and --preemptions both say how often a unit fails; give one");
  if (options.mtbf) return read_duration("--mtbf", *options.mtbf);
  if (options.preemptions) return kHour_s / read_number("--preemptions", *options.preemptions);
  fail_user("say how often a unit fails: --mtbf 50000h, or --preemptions 0.05 an hour");
}

int run(const Options& options) {
  const IntervalInput input{
      .unit_mtbf_s = unit_mtbf_s(options),
      .units = read_whole("--devices", options.devices),
      .save_s = read_duration("--save", options.save),
      .restart_s = read_duration("--restart", options.restart, Zero::allowed),
      .own_interval_s = options.interval ? read_duration("--interval", *options.interval) : 0};
  print_answer(save_interval(input), options.form);
  return 0;
}

}  // namespace

void add_interval(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "interval", "How often to save: Young's and Daly's interval, with lost work and goodput");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("--mtbf", options->mtbf,
                      "of one device (or node): mean time between failures, as 50000h");
  command->add_option("--preemptions", options->preemptions,
                      "instead: of one spot device (or node), per hour");
  command
      ->add_option("--devices,--gpus", options->devices, "that fail alone; nodes, where a node fails as one")
      ->capture_default_str();
  command->add_option("--save", options->save, "how long a save stops the run, as 30s")->required();
  command->add_option("--restart", options->restart, "from a failure until the run goes on, as 10min")
      ->capture_default_str();
  command->add_option("--interval", options->interval, "one of your own, to compare");
  add_json(*command, options->form);
  command->footer("Example: trireme interval --mtbf 50000h --devices 1024 --save 30s --restart 10min");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
