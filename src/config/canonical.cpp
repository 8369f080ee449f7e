// A RunSpec as text and as a number: canonical TOML, differences, hash. All three walk the same list of keys.
#include <fmt/format.h>

#include "config/fields.h"
#include "config/run_spec.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

struct Line {
  std::string section, key, value;
  Effect effect;
};

template <class T>
const T* present(const T& value) {
  return &value;
}
template <class T>
const T* present(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

// Every key that applies, in the order of the list.
std::vector<Line> lines_of(const RunSpec& spec) {
  std::vector<Line> lines;
  visit_keys(spec, [&](std::string_view section, const auto& member, const Field& f, const auto&...) {
    const auto* value = present(member);
    if (f.applies && value != nullptr)
      lines.push_back({std::string(section), std::string(f.key), toml_text(*value), f.effect});
  });
  return lines;
}

}  // namespace

std::string to_toml(const RunSpec& spec) {
  std::string out;
  std::string section;
  for (const Line& line : lines_of(spec)) {
    if (line.section != section) out += fmt::format("{}[{}]\n", section.empty() ? "" : "\n", line.section);
    section = line.section;
    out += fmt::format("{} = {}\n", line.key, line.value);
  }
  return out;
}

std::vector<Difference> diff(const RunSpec& before, const RunSpec& after) {
  const std::vector<Line> a = lines_of(before), b = lines_of(after);
  std::vector<Difference> out;
  // Both are in the order of the list, so each key is found by looking through the other side from its start.
  const auto value_in = [](const std::vector<Line>& lines, const Line& key) -> std::string {
    for (const Line& line : lines)
      if (line.section == key.section && line.key == key.key) return line.value;
    return "";
  };
  RunSpec order;
  visit_keys(order, [&](std::string_view section, auto&, const Field& f, const auto&...) {
    const Line key{std::string(section), std::string(f.key), "", f.effect};
    const std::string old_value = value_in(a, key), new_value = value_in(b, key);
    if (old_value != new_value) out.push_back({key.section + "." + key.key, old_value, new_value, f.effect});
  });
  return out;
}

uint64_t math_hash(const RunSpec& spec) {
  uint64_t hash = 14695981039346656037u;
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\n') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  for (const Line& line : lines_of(spec))
    if (line.effect == Effect::math) add(line.section + "." + line.key + " = " + line.value);
  return hash;
}

}  // namespace trireme
