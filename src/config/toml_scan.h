// What a TOML text has outside its strings and comments, found before toml++ reads it: things that would harm
// it.
#pragma once
#include <cstdint>
#include <string_view>

namespace trireme {

struct TomlScan {
  int64_t dots = 0;  // each may be a level of nested tables, which toml++ builds and frees recursively
  // The first line with something that is not TOML and that toml++ 3.3 meets with undefined behaviour, and
  // what that is: a non-ASCII character, or a table header without a name. 0 for none.
  int64_t bad_line = 0;
  std::string_view bad;
};

// Right up to the first place where the text is not TOML. A list that begins on a line of its own is taken
// for a header; no key of a config has one.
TomlScan scan_toml(std::string_view text);

}  // namespace trireme
