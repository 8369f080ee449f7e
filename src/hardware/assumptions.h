// Numbers that are taken otherwise than a hardware file has them, for a question: "kernels.unfused=1".
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/toml_source.h"
#include "hardware/hardware.h"

namespace trireme {

// By key; the last of each. UserError for what is no assignment or no number of a hardware file.
std::map<std::string, Setting> read_assumptions(const std::vector<std::string>& assignments);

// "assumed: kernels.unfused = 1 (the file has 4.2)", a line; "" where all is as the file has it.
std::string assumptions_text(const Hardware& hardware);

}  // namespace trireme
