// One value for each --set, so that what follows it is an argument again.
#include "cli/overrides.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/limits.h"
#include "config/ranges.h"

namespace trireme::cli {

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "section.key=value over what the config says; may be repeated")
      ->expected(1)
      ->take_all();
}

void refuse_overrides(const std::vector<std::string>& overrides) {
  if (!overrides.empty()) fail_user("--set {}: there is no CONFIG that it could change", overrides[0]);
}

void add_ranks(CLI::App& command, std::optional<int64_t>& ranks) {
  command
      .add_option(
          "--ranks", ranks,
          "ranks in all, over what the config says: parallel.pp x cp x tp times parallel.dp_shard where "
          "parallel.zero > 0, else times parallel.dp_replicate")
      ->check(between(1, kMostRanks));
}

}  // namespace trireme::cli
