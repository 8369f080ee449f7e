// `trireme lr`: the optimizer's settings for another batch.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "cli/overrides.h"
#include "config/run_spec.h"
#include "plan/calculators/batch_scaling.h"
#include "plan/calculators/human_number.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, to;
  std::vector<std::string> overrides;
  std::optional<std::string> from, lr, optimizer, beta1, beta2, eps;
  AnswerForm form = AnswerForm::text;
};

double read_beta(const char* key, const std::string& text) {
  const double beta = read_share(key, text);
  if (beta < 1) return beta;
  fail_user("{} {}: it must be less than 1, as 0.9", key, text);
}

OptimizerSettings settings_of(const OptimizerSpec& spec) {
  return {.kind = spec.kind, .lr = spec.lr, .beta1 = spec.beta1, .beta2 = spec.beta2, .eps = spec.eps};
}

int run(const Options& options) {
  OptimizerSettings settings{.beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8};
  double from = 0;
  if (!options.config.empty()) {
    const RunSpec spec = load_config(options.config, options.overrides);
    settings = settings_of(spec.optimizer);
    from = static_cast<double>(spec.batch.sequences);
  } else {
    refuse_overrides(options.overrides);
    if (!options.lr || !options.from)
      fail_user("say what the run has now: a CONFIG, or --lr 3e-4 and --from 512");
  }
  if (options.from) from = read_number("--from", *options.from);
  if (options.optimizer)
    settings.kind = *options.optimizer == "sgd" ? OptimizerKind::sgd : OptimizerKind::adamw;
  if (options.lr) settings.lr = read_number("--lr", *options.lr);
  if (options.beta1) settings.beta1 = read_beta("--beta1", *options.beta1);
  if (options.beta2) settings.beta2 = read_beta("--beta2", *options.beta2);
  if (options.eps) settings.eps = read_number("--eps", *options.eps);
  print_answer(scale_batch(settings, from, read_number("--to", options.to)), options.form);
  return 0;
}

}  // namespace

void add_lr(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "lr",
      "Adam's lr, betas and eps when the batch must change: the square-root rule; SGD's: the linear one");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config,
                      "TOML file whose settings to begin from; or give --lr and --from");
  command->add_option("--to", options->to, "the new batch: sequences, or tokens if --from is in tokens")
      ->required();
  command->add_option("--from", options->from,
                      "the batch that the settings are for; of a CONFIG batch.sequences");
  command->add_option("--lr", options->lr, "now");
  command->add_option("--optimizer", options->optimizer, "adamw or sgd [adamw]")
      ->check(CLI::IsMember({"adamw", "sgd"}));
  command->add_option("--beta1", options->beta1, "now [0.9]");
  command->add_option("--beta2", options->beta2, "now [0.95]");
  command->add_option("--eps", options->eps, "now [1e-8]");
  add_overrides(*command, options->overrides);
  add_json(*command, options->form);
  command->footer("Example: trireme lr --lr 3e-4 --from 512 --to 2048");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
