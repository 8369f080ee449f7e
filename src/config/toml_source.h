// TOML text and --set arguments as a flat list of settings. The only file that knows the TOML library is
// toml_source.cpp; it knows nothing of which keys exist.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trireme {

struct TomlValue;
struct TomlEntry;
using TomlList = std::vector<TomlValue>;
using TomlTable = std::vector<TomlEntry>;
struct TomlOther {};  // a date, whose text is as 2026-01-15, or a time

struct TomlValue {
  std::variant<bool, int64_t, double, std::string, TomlList, TomlTable, TomlOther> value;
  std::string text;  // as TOML, for messages
};

struct TomlEntry {
  std::string key;
  TomlValue value;
};

struct Setting {
  std::string path;                 // "model.rope_scaling.factor"; tables outside lists are taken apart
  TomlValue value;                  // a TomlTable only inside lists
  std::string where;                // "a.toml:12", "--set"
  std::optional<std::string> bare;  // from --set: the text after "=", which a key of words takes as it is
};

struct TomlSource {
  std::vector<Setting> settings;
  std::vector<std::pair<std::string, std::string>> tables;  // path and place of every table, also empty ones
};

// UserError with name:line:column when the text is not TOML, doubled keys among the reasons.
TomlSource parse_toml(const std::string& text, const std::string& name);

// What assignments are given with on a command line, and one that is right.
struct AssignmentOption {
  const char *flag = "--set", *example = "optimizer.lr=1e-3";
};

// Sets "path=value" over what the source has; later calls win. UserError when it has no "=" or no key, or
// when a value that begins like a TOML string, list or table is not one. Other values that are not TOML are
// words.
void apply_override(TomlSource& source, const std::string& assignment, const AssignmentOption& option = {});

}  // namespace trireme
