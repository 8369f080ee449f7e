// `trireme train`: the training run of a config.
#include "train/trainer.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/launcher.h"
#include "cli/overrides.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, resume = "auto";
  std::vector<std::string> overrides;
  int64_t ranks = 0;
};

// --ranks stands over the config's data-parallel degrees; the pipeline and what is cut stay as it says.
RunSpec load(const Options& options) {
  const RunSpec spec = load_config(options.config, options.overrides);
  if (options.ranks == 0) return spec;
  std::vector<std::string> overrides = options.overrides;
  for (const std::string& degree : overrides_for_ranks(spec, options.ranks)) overrides.push_back(degree);
  return load_config(options.config, overrides);
}

ResumeChoice resume_choice(const std::string& text) {
  if (text == "auto") return {ResumeChoice::Kind::automatic, ""};
  if (text == "never") return {ResumeChoice::Kind::never, ""};
  return {ResumeChoice::Kind::from, text};
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("train", "Trains as a config says; goes on from the run's newest whole checkpoint");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config, "TOML file")->required();
  add_overrides(*command, options->overrides);
  command
      ->add_option(
          "--resume", options->resume,
          "auto, never, or the folder of a run or checkpoint to start from, where this run has no later one")
      ->capture_default_str();
  command
      ->add_option("--ranks", options->ranks,
                   "ranks in all, over what the config says: parallel.pp times parallel.dp_shard where "
                   "parallel.zero > 0, else times parallel.dp_replicate")
      ->check(CLI::PositiveNumber);
  command->footer("Example: trireme train configs/tiny.toml --set optimizer.lr=3e-4 --set run.name=hot");
  command->callback([options, &action] {
    action = [options] {
      const ProcessPlace place = process_place();
      const ResumeChoice resume = resume_choice(options->resume);
      if (place.processes == 1) return train(load(*options), resume);
      return train_on_processes([options] { return load(*options); }, resume, place);
    };
  });
}

}  // namespace trireme::cli
