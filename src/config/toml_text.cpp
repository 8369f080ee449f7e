// Values as TOML text, for the canonical config and for messages.
#include "config/toml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trireme {

std::string toml_text(bool value) { return value ? "true" : "false"; }

std::string toml_text(int64_t value) { return fmt::format("{}", value); }

std::string toml_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_text(const std::vector<std::string>& value) {
  std::string out = "[";
  for (const std::string& word : value) out += (out.size() > 1 ? ", " : "") + toml_text(word);
  return out + ']';
}

std::string toml_text(const std::vector<int64_t>& value) {
  return fmt::format("[{}]", fmt::join(value, ", "));
}

std::string toml_text(const std::vector<DataSet>& value) {
  if (value.size() == 1 && value[0].weight == 1.0) return toml_text(value[0].paths);
  std::string out = "[";
  for (const DataSet& set : value) {
    const std::string path = set.paths.size() == 1 ? toml_text(set.paths[0]) : toml_text(set.paths);
    out +=
        fmt::format("{}{{path = {}, weight = {}}}", out.size() > 1 ? ", " : "", path, toml_text(set.weight));
  }
  return out + ']';
}

}  // namespace trireme
