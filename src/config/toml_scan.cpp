// A lexer of TOML's comments and four kinds of strings (TOML 1.0, sections "Comment" and "String").
#include "config/toml_scan.h"

#include <algorithm>

namespace trireme {
namespace {

// The place after the string that begins at `at`; the end of the line when a one-line string is not closed
// there.
size_t after_string(std::string_view text, size_t at) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const std::string_view triple = escapes ? "\"\"\"" : "'''";
  const bool many_lines = text.substr(at, 3) == triple;
  at += many_lines ? 3 : 1;
  while (at < text.size()) {
    if (escapes && text[at] == '\\') {
      at += 2;
    } else if (many_lines && text.substr(at, 3) == triple) {
      at += 3;
      for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more)
        ++at;  // up to two belong to the text
      return at;
    } else if (!many_lines && (text[at] == quote || text[at] == '\n')) {
      return text[at] == quote ? at + 1 : at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

TomlScan scan_toml(std::string_view text) {
  TomlScan scan;
  size_t at = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;  // a byte order mark
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = after_string(text, at);
    } else {
      if (c == '.') ++scan.dots;
      if (static_cast<unsigned char>(c) >= 0x80 && scan.non_ascii_line == 0)
        scan.non_ascii_line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      ++at;
    }
  }
  return scan;
}

}  // namespace trireme
