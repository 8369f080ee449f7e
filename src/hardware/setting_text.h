// Settings of a hardware file that are texts.
#pragma once
#include <string>

#include "config/toml_source.h"

namespace trireme {

// UserError: "a.toml:3: kind = 1 is not EXPECTED".
[[noreturn]] void fail_value(const Setting& setting, const std::string& expected);

// UserError when it is no string, or an empty one.
const std::string& text_of(const Setting& setting);

}  // namespace trireme
