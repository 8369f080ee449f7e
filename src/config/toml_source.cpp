// TOML to settings, by toml++. Vendor types and exceptions stop here.
#include "config/toml_source.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.h"
#include "config/toml_scan.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

constexpr int64_t kMostDots = 1000;  // outside strings
constexpr size_t kMostBytes = 1 << 20;

TomlValue convert(const toml::node& node);

TomlValue convert_list(const toml::array& array) {
  TomlList list;
  std::string text = "[";
  for (const toml::node& element : array) {
    list.push_back(convert(element));
    text += (list.size() > 1 ? ", " : "") + list.back().text;
  }
  return {std::move(list), text + "]"};
}

TomlValue convert_table(const toml::table& from) {
  TomlTable table;
  std::string text = "{";
  for (const auto& [key, node] : from) {
    table.push_back({std::string(key.str()), convert(node)});
    text += (table.size() > 1 ? ", " : "") + table.back().key + " = " + table.back().value.text;
  }
  return {std::move(table), text + "}"};
}

TomlValue convert(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return {b->get(), toml_text(b->get())};
  if (const auto* i = node.as_integer()) return {i->get(), toml_text(i->get())};
  if (const auto* f = node.as_floating_point()) return {f->get(), toml_text(f->get())};
  if (const auto* s = node.as_string()) return {s->get(), toml_text(s->get())};
  if (const auto* list = node.as_array()) return convert_list(*list);
  if (const auto* table = node.as_table()) return convert_table(*table);
  if (const auto* day = node.as_date())
    return {TomlOther{}, fmt::format("{:04}-{:02}-{:02}", day->get().year, day->get().month, day->get().day)};
  return {TomlOther{}, "a time"};
}

std::string place(const std::string& name, const toml::node& node) {
  const auto line = node.source().begin.line;
  return line == 0 ? name : fmt::format("{}:{}", name, line);
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& name, TomlSource& out) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    const auto line = key.source().begin.line;
    const std::string where = line == 0 ? place(name, node) : fmt::format("{}:{}", name, line);
    if (const auto* inner = node.as_table()) {
      out.tables.emplace_back(path, where);
      flatten(*inner, path + '.', name, out);
    } else {
      out.settings.push_back({path, convert(node), where, std::nullopt});
    }
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The text for toml++.
std::string checked_text(const std::string& text, const std::string& name) {
  if (text.size() > kMostBytes)
    fail_user("{}: {} bytes are too many for a config; the most is {}", name, text.size(), kMostBytes);
  TomlScan scan = scan_toml(text);
  if (scan.dots > kMostDots)
    fail_user("{}: {} dots outside strings are too many for a config; the most is {}", name, scan.dots,
              kMostDots);
  if (scan.bad_line != 0) fail_user("{}:{}: not TOML: {}", name, scan.bad_line, scan.bad);
  return std::move(scan.ascii);
}

// The settings of a line of an override. toml::parse_error when it is not TOML.
TomlSource parse_line(const std::string& line, const char* flag) {
  const std::string text = checked_text(line, flag);
  const toml::table table = toml::parse(std::string_view(text), std::string_view(flag));
  TomlSource source;
  flatten(table, "", flag, source);
  for (Setting& setting : source.settings) setting.where = flag;
  for (auto& [path, where] : source.tables) where = flag;
  return source;
}

// The value of an override: TOML, or else a word.
TomlSource parse_assignment(const std::string& assignment, const std::string& key, const std::string& text,
                            const char* flag) {
  const bool like_toml = text.find_first_of("\"'[{") == 0;
  const std::string as_toml = key + " = " + text, as_word = key + " = " + toml_text(text);
  try {
    if (like_toml || scan_toml(as_toml).bad_line == 0) return parse_line(as_toml, flag);
  } catch (const toml::parse_error& error) {
    if (like_toml) fail_user("{} {}: the value is not TOML: {}", flag, assignment, error.description());
  }
  try {
    return parse_line(as_word, flag);
  } catch (const toml::parse_error& error) {
    fail_user("{} {}: neither TOML nor a word: {}", flag, assignment, error.description());
  }
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

TomlSource parse_toml(const std::string& text, const std::string& name) {
  const std::string ascii = checked_text(text, name);
  try {
    const toml::table table = toml::parse(std::string_view(ascii), std::string_view(name));
    TomlSource source;
    flatten(table, "", name, source);
    return source;
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    fail_user("{}:{}:{}: not TOML: {}", name, at.line, at.column, error.description());
  }
}

void apply_override(TomlSource& source, const std::string& assignment, const AssignmentOption& option) {
  const size_t equals = assignment.find('=');
  const std::string key(trimmed(assignment.substr(0, equals)));
  const bool key_ok = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (equals == std::string::npos || !key_ok)
    fail_user("{0} {1} is not section.key=value; write it like {0} {2}", option.flag, assignment,
              option.example);
  const std::string text(trimmed(assignment.substr(equals + 1)));
  if (text.empty())
    fail_user("{0} {1} has no value; write it like {0} {2}", option.flag, assignment, option.example);

  TomlSource over = parse_assignment(assignment, key, text, option.flag);
  const bool one_scalar = over.settings.size() == 1 && over.settings[0].path == key &&
                          !std::holds_alternative<TomlList>(over.settings[0].value.value) && text[0] != '"' &&
                          text[0] != '\'';
  if (one_scalar) over.settings[0].bare = text;
  std::erase_if(source.settings,
                [&](const Setting& old) { return old.path == key || starts_with(old.path, key + '.'); });
  for (Setting& setting : over.settings) source.settings.push_back(std::move(setting));
  for (auto& table : over.tables) source.tables.push_back(std::move(table));
}

}  // namespace trireme
