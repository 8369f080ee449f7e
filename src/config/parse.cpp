// Settings to a RawConfig: every setting must name a key and have its type. Ranges and consistency are
// resolve's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "config/fields.h"
#include "config/raw_config.h"
#include "config/toml_source.h"

namespace trireme {
namespace {

[[noreturn]] void fail_type(const Setting& s, const std::string& expected) {
  fail_user("{}: {} = {} is not {}", s.where, s.path, s.value.text, expected);
}

// convert(setting, value, out): the value as T, or a UserError that names the key.
void convert(const Setting& s, const TomlValue& v, bool& out) {
  if (const bool* b = std::get_if<bool>(&v.value)) return void(out = *b);
  fail_type(s, "true or false");
}

void convert(const Setting& s, const TomlValue& v, int64_t& out) {
  if (const int64_t* i = std::get_if<int64_t>(&v.value)) return void(out = *i);
  if (const double* d = std::get_if<double>(&v.value); d && *d == std::floor(*d) && std::abs(*d) < kMaxCount)
    fail_type(s, fmt::format("a whole number; write {}", static_cast<int64_t>(*d)));
  fail_type(s, "a whole number");
}

void convert(const Setting& s, const TomlValue& v, double& out) {
  if (const int64_t* i = std::get_if<int64_t>(&v.value)) return void(out = static_cast<double>(*i));
  const double* d = std::get_if<double>(&v.value);
  if (d == nullptr) fail_type(s, "a number; write it like 1e-3");
  if (!std::isfinite(*d)) fail_type(s, "a finite number");
  out = *d;
}

void convert(const Setting& s, const TomlValue& v, std::string& out) {
  const std::string* word = std::get_if<std::string>(&v.value);
  if (word == nullptr && s.bare) {
    out = *s.bare;
  } else if (word == nullptr) {
    fail_type(s, "a string; put it in quotes");
  } else {
    out = *word;
  }
  if (out.find('\0') != std::string::npos) fail_type(s, "text without zero bytes");
}

template <class E>
requires std::is_enum_v<E>
void convert(const Setting& s, const TomlValue& v, E& out) {
  const auto names = names_of_values(E{});
  const std::string expected = fmt::format("one of {}", fmt::join(names, ", "));
  const std::string* word = std::get_if<std::string>(&v.value);
  if (word == nullptr) fail_type(s, expected);
  const auto found = std::find(names.begin(), names.end(), *word);
  if (found == names.end()) {
    const std::string near = nearest(*word, {names.begin(), names.end()});
    fail_type(s, expected + (near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  out = static_cast<E>(found - names.begin());
}

// A string or a list of strings.
void convert(const Setting& s, const TomlValue& v, std::vector<std::string>& out) {
  const TomlList* list = std::get_if<TomlList>(&v.value);
  if (list == nullptr) {
    convert(s, v, out.emplace_back());
  } else {
    for (const TomlValue& element : *list) {
      if (!std::holds_alternative<std::string>(element.value)) fail_type(s, "a list of strings");
      convert(s, element, out.emplace_back());
    }
  }
  for (const std::string& word : out)
    if (word.empty()) fail_type(s, "a list of paths: one of them is empty");
}

// One number or a list of them.
void convert(const Setting& s, const TomlValue& v, std::vector<int64_t>& out) {
  const TomlList* list = std::get_if<TomlList>(&v.value);
  if (list == nullptr) return convert(s, v, out.emplace_back());
  for (const TomlValue& element : *list) {
    if (!std::holds_alternative<int64_t>(element.value)) fail_type(s, "a list of whole numbers");
    convert(s, element, out.emplace_back());
  }
}

void convert_set(const Setting& s, const TomlTable& table, DataSet& out) {
  bool has_path = false;
  for (const auto& [key, value] : table) {
    if (key == "path") {
      convert(s, value, out.paths);
      has_path = !out.paths.empty();
    } else if (key == "weight") {
      convert(s, value, out.weight);
    } else {
      fail_type(s, fmt::format("a list of {{path, weight}}: unknown key {}", key));
    }
  }
  if (!has_path) fail_type(s, "a list of {path, weight}: a path is missing");
}

// Paths alone are one set of weight 1; tables are a set each.
void convert(const Setting& s, const TomlValue& v, std::vector<DataSet>& out) {
  const TomlList* list = std::get_if<TomlList>(&v.value);
  const auto is_table = [](const TomlValue& element) {
    return std::holds_alternative<TomlTable>(element.value);
  };
  if (list == nullptr || std::none_of(list->begin(), list->end(), is_table)) {
    std::vector<std::string> paths;
    convert(s, v, paths);
    if (!paths.empty()) out.push_back({.paths = std::move(paths)});
    return;
  }
  for (const TomlValue& element : *list) {
    if (!is_table(element)) fail_type(s, "a list of paths or of {path, weight}: the two do not mix");
    convert_set(s, std::get<TomlTable>(element.value), out.emplace_back());
  }
}

struct Known {
  std::vector<std::string> sections, keys;  // "model"; "model.layers"
};

Known known_names() {
  Known known;
  RawConfig empty;
  visit_sections(empty, [&](std::string_view section, std::string_view, auto&&) {
    known.sections.emplace_back(section);
  });
  visit_keys(empty, [&](std::string_view section, auto&, const Field& f, const auto&...) {
    known.keys.push_back(fmt::format("{}.{}", section, f.key));
  });
  return known;
}

std::vector<std::string> below(const std::vector<std::string>& keys, const std::string& prefix) {
  std::vector<std::string> out;
  for (const std::string& key : keys)
    if (key.substr(0, prefix.size()) == prefix) out.push_back(key.substr(prefix.size()));
  return out;
}

// "there is no model.learning_rate; did you mean optimizer.lr?"
[[noreturn]] void fail_unknown(const Known& known, const std::string& path, const std::string& where) {
  const std::string section = path.substr(0, path.find('.'));
  const std::string rest = path.size() > section.size() ? path.substr(section.size() + 1) : "";
  if (const auto inside = below(known.keys, path + "."); !inside.empty())
    fail_user("{}: {} is a table; its keys are {}", where, path, fmt::join(inside, ", "));
  const bool section_known =
      std::find(known.sections.begin(), known.sections.end(), section) != known.sections.end();
  if (section_known && rest.empty())
    fail_user("{}: {} is a section; write [{}] on a line of its own", where, path, path);
  // The same key elsewhere: in another section, or written with none.
  const std::string key = rest.empty() ? section : rest;
  std::vector<std::string> elsewhere;
  for (const std::string& s : known.sections)
    if (std::find(known.keys.begin(), known.keys.end(), s + "." + key) != known.keys.end())
      elsewhere.push_back(s + "." + key);
  if (section_known) {
    if (const std::string near = nearest(rest, below(known.keys, section + "."));
        !near.empty() && elsewhere.empty())
      fail_user("{}: unknown key {}; did you mean {}.{}?", where, path, section, near);
  } else if (!rest.empty()) {
    if (const std::string near = nearest(section, known.sections); !near.empty())
      fail_user("{}: unknown section {}; did you mean {}?", where, section, near);
  }
  if (!elsewhere.empty())
    fail_user("{}: unknown key {}; it belongs to another section: {}", where, path,
              fmt::join(elsewhere, " or "));
  if (const std::string near = nearest(path, known.keys); !near.empty())
    fail_user("{}: unknown key {}; did you mean {}?", where, path, near);
  if (section_known)
    fail_user("{}: unknown key {}; [{}] has {}", where, path, section,
              fmt::join(below(known.keys, section + "."), ", "));
  fail_user("{}: unknown key {}; sections are {}", where, path, fmt::join(known.sections, ", "));
}

void check_tables(const TomlSource& source, const Known& known) {
  for (const auto& [path, where] : source.tables) {
    if (std::find(known.sections.begin(), known.sections.end(), path) != known.sections.end()) continue;
    if (!below(known.keys, path + ".").empty()) continue;
    if (std::find(known.keys.begin(), known.keys.end(), path) != known.keys.end())
      fail_user("{}: {} is not a table but a value", where, path);
    const std::string near = path.find('.') == std::string::npos ? nearest(path, known.sections) : "";
    if (!near.empty()) fail_user("{}: unknown section {}; did you mean {}?", where, path, near);
    if (path.find('.') == std::string::npos)
      fail_user("{}: unknown section {}; sections are {}", where, path, fmt::join(known.sections, ", "));
    fail_unknown(known, path, where);
  }
}

}  // namespace

RawConfig parse_raw(const std::string& text, const std::string& name,
                    const std::vector<std::string>& overrides) {
  TomlSource source = parse_toml(text, name);
  for (const std::string& assignment : overrides) apply_override(source, assignment);

  const Known known = known_names();
  check_tables(source, known);
  std::map<std::string, const Setting*> settings;
  for (const Setting& setting : source.settings) {
    if (std::find(known.keys.begin(), known.keys.end(), setting.path) == known.keys.end())
      fail_unknown(known, setting.path, setting.where);
    settings[setting.path] = &setting;
  }

  RawConfig raw;
  raw.name = name;
  visit_keys(raw, [&](std::string_view section, auto& member, const Field& f, const auto&...) {
    const std::string path = fmt::format("{}.{}", section, f.key);
    const auto found = settings.find(path);
    if (found == settings.end()) return;
    convert(*found->second, found->second->value, member.emplace());
    raw.where[path] = found->second->where;
  });
  return raw;
}

}  // namespace trireme
