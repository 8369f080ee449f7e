// TOML text made fit for toml++ 3.3, which meets some texts that are not TOML with undefined behaviour: all
// of it becomes ASCII (strings by escapes, comments dropped), and what cannot is named.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trireme {

struct TomlScan {
  std::string ascii;  // says the same, on the same lines
  int64_t dots =
      0;  // outside strings: each may be a level of nested tables, which toml++ builds and frees recursively
  // The first line that cannot be passed on and why: bytes that are not UTF-8, non-ASCII characters outside
  // strings and comments or in '...' strings, a table header without a name. 0 for none.
  int64_t bad_line = 0;
  std::string_view bad;
};

// A list that begins on a line of its own is taken for a table header; no key of a config has one.
TomlScan scan_toml(std::string_view text);

}  // namespace trireme
