// A lexer of TOML's comments and four kinds of strings (TOML 1.0, sections "Comment" and "String").
#include "config/toml_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace trireme {
namespace {

constexpr std::string_view kNotUtf8 = "bytes that are not UTF-8";
constexpr std::string_view kOutside = "a non-ASCII character outside a string; put the value in quotes";
constexpr std::string_view kLiteral = "a non-ASCII character in a '...' string; write it in \"...\"";

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// Strict: no overlong forms, surrogates or values past U+10FFFF. `text` begins with a non-ASCII byte.
CodePoint decode_utf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  uint32_t value = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0u) != 0x80u) return {};
    value = value << 6 | (next & 0x3fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || (value >= 0xd800 && value < 0xe000) || value > 0x10ffff) return {};
  return {value, bytes};
}

// "[" or "[[" at `at`, then blanks: does a key follow, or the "]" or end that toml++ has a message for?
bool key_follows(std::string_view text, size_t at) {
  at += text.substr(at, 2) == "[[" ? 2 : 1;
  at = text.find_first_not_of(" \t", at);
  if (at == std::string_view::npos) return true;
  const char c = text[at];
  return !is_ascii(c) || std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-_\"']").find(c) != std::string_view::npos;
}

bool first_on_its_line(std::string_view text, size_t at) {
  const size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
  return before == std::string_view::npos ||
         std::string_view("\n\v\f\r").find(text[before]) != std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  TomlScan run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        comment();
      } else if (c == '"' || c == '\'') {
        string();
      } else {
        if (c == '.') ++scan_.dots;
        if (!is_ascii(c)) mark(kOutside);
        if (c == '[' && first_on_its_line(text_, at_) && !key_follows(text_, at_))
          mark("a table's [ that no name follows");
        copy(1);
      }
    }
    return std::move(scan_);
  }

 private:
  void mark(std::string_view problem) {
    if (scan_.bad_line != 0) return;
    scan_.bad_line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    scan_.bad = problem;
  }

  void copy(size_t bytes) {
    scan_.ascii += text_.substr(at_, bytes);
    at_ = std::min(at_ + bytes, text_.size());
  }

  void comment() {
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\0') mark("a zero byte");
  }

  // To the end of the string, or of the line when a one-line string is not closed there.
  void string() {
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool many_lines = text_.substr(at_, 3) == triple;
    copy(many_lines ? 3 : 1);
    while (at_ < text_.size()) {
      if (many_lines && text_.substr(at_, 3) == triple) {
        copy(3);
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more)
          copy(1);  // part of the text
        return;
      }
      if (!many_lines && text_[at_] == '\n') return;
      if (!many_lines && text_[at_] == quote) return copy(1);
      character(quote == '"');
    }
  }

  void character(bool escapes) {
    if (escapes && text_[at_] == '\\') {
      copy(1);
      if (at_ < text_.size() && is_ascii(text_[at_])) return copy(1);
      return mark("a backslash before something that it does not escape");
    }
    if (is_ascii(text_[at_])) return copy(1);
    const CodePoint point = decode_utf8(text_.substr(at_));
    if (point.bytes == 0) mark(kNotUtf8);
    if (!escapes) mark(kLiteral);
    scan_.ascii += fmt::format("\\U{:08x}", point.value);
    at_ += std::max<size_t>(point.bytes, 1);
  }

  std::string_view text_;
  size_t at_ = 0;
  TomlScan scan_;
};

}  // namespace

TomlScan scan_toml(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // a byte order mark
  return Scanner(text).run();
}

}  // namespace trireme
