// `trireme config`: the resolved config of a file, and the reference of every key.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/overrides.h"
#include "config/run_spec.h"

namespace trireme::cli {
namespace {

struct ShowOptions {
  std::string path;
  std::vector<std::string> overrides;
};

void add_show(CLI::App& config, Action& action) {
  CLI::App* show = config.add_subcommand(
      "show", "Prints the config as resolved: every key, with defaults and derived values");
  const auto options =
      std::make_shared<ShowOptions>();  // owned by the callback below and by the parser's bindings
  show->add_option("CONFIG", options->path, "TOML file")->required();
  add_overrides(*show, options->overrides);
  show->footer("Example: trireme config show configs/tiny.toml --set optimizer.lr=3e-4");
  show->callback([options, &action] {
    action = [options] {
      std::fputs(to_toml(load_config(options->path, options->overrides)).c_str(), stdout);
      return 0;
    };
  });
}

void add_reference(CLI::App& config, Action& action) {
  CLI::App* reference = config.add_subcommand(
      "reference", "Prints every key with type, unit, default, range and meaning, in Markdown");
  reference->footer("Example: trireme config reference | less");
  reference->callback([&action] {
    action = [] {
      std::fputs(config_reference().c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  CLI::App* config = app.add_subcommand("config", "Shows the resolved config, or the reference of all keys");
  config->require_subcommand(1);
  config->footer("Example: trireme config show configs/tiny.toml");
  add_show(*config, action);
  add_reference(*config, action);
}

}  // namespace trireme::cli
