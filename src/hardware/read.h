// Hardware files: TOML in which every number names its source.
#pragma once
#include <string>

#include "hardware/hardware.h"

namespace trireme {

// UserError with place, key, value and cure for what is unknown, missing, out of range or without a source.
Hardware parse_hardware(const std::string& text, const std::string& name);

// A text that parse_hardware reads back to the same.
std::string to_toml(const Hardware& hardware);

}  // namespace trireme
