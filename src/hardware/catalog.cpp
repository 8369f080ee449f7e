// A machine by name or by file. The table of built-in texts is generated from hardware/*.toml by the build
// (cmake/HardwareFiles.cmake).
#include "hardware/catalog.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"
#include "config/text_file.h"
#include "hardware/read.h"

namespace trireme {

Hardware load_hardware(const std::string& name_or_path) {
  std::vector<std::string> names;
  for (const BuiltInHardware& known : built_in_hardware()) {
    if (known.name == name_or_path) return parse_hardware(std::string(known.text), name_or_path + ".toml");
    names.emplace_back(known.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_path, error))
    fail_user("unknown hardware {}: neither a file nor a machine that Trireme knows; {}", name_or_path,
              did_you_mean(name_or_path, names, "those are"));
  return parse_hardware(read_text_file(name_or_path, "the hardware file"), name_or_path);
}

}  // namespace trireme
