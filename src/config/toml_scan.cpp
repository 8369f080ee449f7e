// A lexer of TOML's comments and four kinds of strings (TOML 1.0, sections "Comment" and "String").
#include "config/toml_scan.h"

#include <algorithm>
#include <cctype>

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

// "[" or "[[" at `at`, then blanks: does a key follow, or the "]" or end that toml++ has a message for?
bool key_follows(std::string_view text, size_t at) {
  at = text.find_first_not_of('[', at);
  at = text.find_first_not_of(" \t", at);
  if (at == std::string_view::npos) return true;
  const auto c = static_cast<unsigned char>(text[at]);
  return c >= 0x80 || std::isalnum(c) != 0 ||
         std::string_view("-_\"']").find(text[at]) != std::string_view::npos;
}

bool first_on_its_line(std::string_view text, size_t at) {
  const size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
  return before == std::string_view::npos || text[before] == '\n';
}

}  // namespace

TomlScan scan_toml(std::string_view text) {
  TomlScan scan;
  const auto mark = [&](size_t at, std::string_view problem) {
    if (scan.bad_line != 0) return;
    scan.bad_line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    scan.bad = problem;
  };
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // a byte order mark
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = after_string(text, at);
    } else {
      if (c == '.') ++scan.dots;
      if (static_cast<unsigned char>(c) >= 0x80)
        mark(at, "a non-ASCII character outside a string; put the value in quotes");
      if (c == '[' && first_on_its_line(text, at) && !key_follows(text, at))
        mark(at, "a table's [ that no name follows");
      ++at;
    }
  }
  return scan;
}

}  // namespace trireme
