// One value for each --set, so that what follows it is an argument again.
#include "cli/overrides.h"

#include <CLI/CLI.hpp>

namespace trireme::cli {

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "section.key=value over what the config says; may be repeated")
      ->expected(1)
      ->take_all();
}

}  // namespace trireme::cli
