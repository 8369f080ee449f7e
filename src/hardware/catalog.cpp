// A machine by name or by file. The table of built-in texts is generated from hardware/*.toml by the build
// (cmake/HardwareFiles.cmake).
#include "hardware/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/text_file.h"
#include "hardware/read.h"

namespace trireme {

namespace {

// "H100-SXM.toml" to "h100-sxm": as people write names.
std::string plain_name(const std::string& given) {
  std::string name = std::filesystem::path(given).filename().string();
  for (char& c : name)
    c = c == '_' || c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.ends_with(".toml") ? name.substr(0, name.size() - 5) : name;
}

// What may be meant: the machines whose names begin so, else the nearest one, else all.
std::vector<std::string> meant_by(const std::string& given, const std::vector<std::string>& names) {
  const std::string name = plain_name(given);
  if (name.empty()) return names;
  std::vector<std::string> meant;
  for (const std::string& known : names)
    if (known.starts_with(name)) meant.push_back(known);
  if (!meant.empty()) return meant;
  const std::string near = nearest(name, names);
  return near.empty() ? names : std::vector<std::string>{near};
}

}  // namespace

Hardware load_hardware(const std::string& name_or_path, const std::vector<std::string>& assumptions) {
  std::vector<std::string> names;
  for (const BuiltInHardware& known : built_in_hardware()) {
    if (known.name == name_or_path)
      return parse_hardware(std::string(known.text), name_or_path + ".toml", assumptions);
    names.emplace_back(known.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_path, error)) {
    const std::vector<std::string> meant = meant_by(name_or_path, names);
    fail_user("unknown hardware {}: neither a file nor a machine that Trireme knows; {}",
              name_or_path.empty() ? "\"\"" : name_or_path,
              meant.size() == names.size() ? fmt::format("those are {}", fmt::join(names, ", "))
                                           : fmt::format("did you mean {}?", fmt::join(meant, " or ")));
  }
  return parse_hardware(read_text_file(name_or_path, "the hardware file"), name_or_path, assumptions);
}

}  // namespace trireme
