// The options of subcommands that take a config: --set, and --ranks of those that mind how many there are.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace trireme::cli {

// "section.key=value" goes to `overrides`, as often as it is given; see load_config.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);
// UserError where there are some: for a command that was given no CONFIG.
void refuse_overrides(const std::vector<std::string>& overrides);
// --ranks N; see load_config.
void add_ranks(CLI::App& command, std::optional<int64_t>& ranks);

}  // namespace trireme::cli
