// What a TOML text has outside its strings and comments, found before toml++ reads it: two things there would
// harm it.
#pragma once
#include <cstdint>
#include <string_view>

namespace trireme {

struct TomlScan {
  int64_t dots = 0;  // each may be a level of nested tables, which toml++ builds and frees recursively
  int64_t non_ascii_line = 0;  // the first line with a non-ASCII byte, 0 for none: not TOML, and toml++ 3.3
                               // runs into undefined behaviour
};

// Right up to the first place where the text is not TOML.
TomlScan scan_toml(std::string_view text);

}  // namespace trireme
