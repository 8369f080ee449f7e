// `trireme train`: the training run of a config.
#include "train/trainer.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/launcher.h"
#include "cli/overrides.h"
#include "cli/store_environment.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, resume = "auto";
  std::vector<std::string> overrides;
  std::optional<int64_t> ranks;
};

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
          "auto, never, or what to start from where this run has no later checkpoint: the folder of a run or "
          "checkpoint, or s3://bucket/prefix")
      ->capture_default_str();
  add_ranks(*command, options->ranks);
  command->footer("Example: trireme train configs/tiny.toml --set optimizer.lr=3e-4 --set run.name=hot");
  command->callback([options, &action] {
    action = [options] {
      const ProcessPlace place = process_place();
      const ResumeChoice resume = resume_choice(options->resume);
      const S3Options s3 = s3_options_from_environment();
      const auto load = [options] {
        return load_config(options->config, options->overrides, options->ranks);
      };
      if (place.processes == 1) return train(load(), resume, s3);
      return train_on_processes(load, resume, s3, place);
    };
  });
}

}  // namespace trireme::cli
