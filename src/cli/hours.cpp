// `trireme hours`: how long a run takes, and what of GPUs, MFU or tokens given hours imply.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/answer_output.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/peak_options.h"
#include "plan/calculators/human_number.h"
#include "plan/calculators/run_hours.h"

namespace trireme::cli {
namespace {

struct Options {
  ModelOptions model;
  PeakOptions peak;
  std::optional<std::string> tokens, gpus, mfu, hours;
  AnswerForm form = AnswerForm::text;
};

int run(const Options& options) {
  const GivenModel model = read_model(options.model);
  HoursInput input{.flops = model.flops, .peak = read_peak(options.peak)};
  if (options.tokens) input.tokens = read_number("--tokens", *options.tokens);
  if (options.gpus) input.devices = read_whole("--gpus", *options.gpus);
  if (options.mfu) input.mfu = read_share("--mfu", *options.mfu);
  if (options.hours) input.hours = read_number("--hours", *options.hours);
  // A config's steps say the tokens, unless they are what is asked for.
  const bool asks_tokens = input.devices && input.mfu && input.hours;
  if (model.spec && !input.tokens && !asks_tokens)
    input.tokens =
        static_cast<double>(model.spec->run.steps) * static_cast<double>(tokens_per_step(*model.spec));
  print_answer(run_hours(input), options.form);
  return 0;
}

}  // namespace

void add_hours(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "hours",
      "Time of a run, or the GPUs, MFU or tokens for given hours: 6 N D / (GPUs * peak * MFU * 3600)");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  add_model_options(*command, options->model);
  command->add_option("--tokens", options->tokens, "D, as 1T; of a CONFIG its steps' where not given");
  command->add_option("--gpus", options->gpus, "devices");
  command->add_option("--mfu", options->mfu, "as 40% or 0.4");
  command->add_option("--hours", options->hours, "wall clock");
  add_peak_options(*command, options->peak);
  add_json(*command, options->form);
  command->footer(
      "Give all of --tokens, --gpus, --mfu and --hours but the one that is asked for.\n"
      "Example: trireme hours --params 7B --tokens 1T --gpus 64 --device h100-sxm --mfu 40%");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
