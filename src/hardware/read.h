// Hardware files: TOML in which every number names its source.
#pragma once
#include <string>
#include <vector>

#include "hardware/hardware.h"

namespace trireme {

// UserError with place, key, value and cure for what is unknown, missing, out of range or without a source.
// `assumptions`: "kernels.unfused=1", numbers over what the text has.
Hardware parse_hardware(const std::string& text, const std::string& name,
                        const std::vector<std::string>& assumptions = {});

// A text that parse_hardware reads back to the same. The machine must be without assumptions, which have no
// source.
std::string to_toml(const Hardware& hardware);

}  // namespace trireme
