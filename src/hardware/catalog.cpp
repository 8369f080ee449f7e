// A machine by name or by file. The table of built-in texts is generated from hardware/*.toml by the build
// (cmake/HardwareFiles.cmake).
#include "hardware/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "hardware/read.h"

namespace trireme {

Hardware load_hardware(const std::string& name_or_path) {
  std::vector<std::string> names;
  for (const BuiltInHardware& known : built_in_hardware()) {
    if (known.name == name_or_path) return parse_hardware(std::string(known.text), name_or_path + ".toml");
    names.emplace_back(known.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_path, error)) {
    const std::string near = nearest(name_or_path, names);
    fail_user("unknown hardware {}: neither a file nor a machine that Trireme knows; {}", name_or_path,
              near.empty() ? fmt::format("those are {}", fmt::join(names, ", "))
                           : fmt::format("did you mean {}?", near));
  }
  std::ifstream file(name_or_path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) fail_env("{}", with_errno("cannot read " + name_or_path));
  return parse_hardware(text.str(), name_or_path);
}

}  // namespace trireme
