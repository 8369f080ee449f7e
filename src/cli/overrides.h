// The option --set of every subcommand that takes a config.
#pragma once
#include <string>
#include <vector>

#include "cli/command.h"

namespace trireme::cli {

// "section.key=value" goes to `overrides`, as often as it is given; see load_config.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);

}  // namespace trireme::cli
