// The machines that Trireme knows: hardware/*.toml, built into the binary.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/hardware.h"

namespace trireme {

struct BuiltInHardware {
  std::string_view name;  // "h100-sxm"
  std::string_view text;
};
std::span<const BuiltInHardware> built_in_hardware();  // by name

// By name, or the file where there is one of that path; `assumptions` as parse_hardware's. UserError when
// there is neither, with the nearest name.
Hardware load_hardware(const std::string& name_or_path, const std::vector<std::string>& assumptions = {});

}  // namespace trireme
