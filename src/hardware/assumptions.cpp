// As --set takes a config's keys.
#include "hardware/assumptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggestion.h"
#include "hardware/numbers.h"

namespace trireme {

std::map<std::string, Setting> read_assumptions(const std::vector<std::string>& assignments) {
  const std::vector<std::string> numbers = number_keys();
  std::map<std::string, Setting> assumed;
  for (const std::string& assignment : assignments) {
    TomlSource source;
    apply_override(source, assignment, {"--assume", "kernels.unfused=1"});
    for (Setting& setting : source.settings) {
      if (std::find(numbers.begin(), numbers.end(), setting.path) == numbers.end())
        fail_user("--assume {}: {} is no number of a hardware file; {}", assignment, setting.path,
                  did_you_mean(setting.path, numbers, "it has"));
      assumed[setting.path] = std::move(setting);
    }
  }
  return assumed;
}

std::string assumptions_text(const Hardware& hardware) {
  if (hardware.assumed.empty()) return "";
  return fmt::format("assumed: {}\n", fmt::join(hardware.assumed, ", "));
}

}  // namespace trireme
