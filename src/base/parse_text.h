// Texts taken apart: fields between separators, and numbers that are nothing else.
#pragma once
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace trireme {

// The fields between the separators, empty ones too: always at least one. Views of `text`.
inline std::vector<std::string_view> split_at(char separator, std::string_view text) {
  std::vector<std::string_view> fields;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

// Nothing where the text is not a number from its first character to its last, or one that does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace trireme
