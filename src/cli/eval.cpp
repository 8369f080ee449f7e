// `trireme eval`: the validation loss of a checkpoint.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/overrides.h"
#include "cli/store_environment.h"
#include "train/evaluate_run.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> overrides;
};

int evaluate(const Options& options) {
  Log log(LogOptions{});
  const RunEvaluation done =
      evaluate_run(options.path, options.overrides, s3_options_from_environment(), log);
  std::printf("checkpoint      %s\n", done.checkpoint.c_str());
  std::printf("sequences       %lld of %lld tokens\n", static_cast<long long>(done.sequences),
              static_cast<long long>(done.seq_len));
  std::printf("counted tokens  %lld\n", static_cast<long long>(done.result.counted_tokens));
  std::printf("loss            %.6f nats per token\n", done.result.loss);
  if (done.result.bits_per_byte)
    std::printf("bits per byte   %.6f\n", *done.result.bits_per_byte);
  else
    std::printf("bits per byte   n/a (the run has no tokenizer)\n");
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("eval", "Validation loss, in nats and bits per byte, of a checkpoint");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG|RUN", options->path, "a config, a run's folder, or one of its checkpoints")
      ->required();
  add_overrides(*command, options->overrides);
  command->footer("Example: trireme eval runs/demo --set eval.sequences=1000");
  command->callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

}  // namespace trireme::cli
