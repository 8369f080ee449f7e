// `trireme mfu`: what a run's speed is of the devices' peak.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/peak_options.h"
#include "plan/calculators/human_number.h"
#include "plan/calculators/utilization.h"

namespace trireme::cli {
namespace {

struct Options {
  ModelOptions model;
  PeakOptions peak;
  std::optional<std::string> gpus, recompute;
  std::string tokens_per_s;
  AnswerForm form = AnswerForm::text;
};

Recomputed read_recomputed(const Options& options, const GivenModel& model) {
  if (!options.recompute)
    return model.spec ? recomputed_by(model.spec->parallel.recompute) : Recomputed::nothing;
  if (*options.recompute == "full") return Recomputed::layers;
  return *options.recompute == "attention" ? Recomputed::attention : Recomputed::nothing;
}

int run(const Options& options) {
  const GivenModel model = read_model(options.model);
  if (!options.gpus && !model.spec)
    fail_user("--gpus is missing: the devices that make these tokens/s together");
  const Speed speed{.tokens_per_s = read_number("--tokens-per-s", options.tokens_per_s),
                    .devices = options.gpus ? read_whole("--gpus", *options.gpus) : all_ranks(*model.spec),
                    .peak = read_peak(options.peak),
                    .flops = model.flops,
                    .recomputed = read_recomputed(options, model)};
  print_answer(utilization(speed), options.form);
  return 0;
}

}  // namespace

void add_mfu(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("mfu", "MFU and HFU of a speed: tokens/s * FLOPs / (GPUs * peak)");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  add_model_options(*command, options->model);
  command->add_option("--tokens-per-s", options->tokens_per_s, "of all GPUs together")->required();
  command->add_option("--gpus", options->gpus, "devices; a CONFIG's ranks where not given");
  add_peak_options(*command, options->peak);
  command
      ->add_option("--recompute", options->recompute,
                   "what backward computes again, for HFU: none, attention, full [the CONFIG's, or none]")
      ->check(CLI::IsMember({"none", "attention", "full"}));
  add_json(*command, options->form);
  command->footer(
      "Example: trireme mfu --params 8B --layers 32 --width 4096 --seq 8192 --tokens-per-s 46096 "
      "--gpus 8 --device h100-sxm");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
