// A hardware file's text to a Hardware and back. Every number must have its unit, lie in its range and name a
// dated source of the file; the list of numbers is numbers.h's.
#include "hardware/read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/day.h"
#include "base/error.h"
#include "base/suggestion.h"
#include "config/toml_source.h"
#include "config/toml_text.h"
#include "hardware/assumptions.h"
#include "hardware/curves.h"
#include "hardware/numbers.h"
#include "hardware/setting_text.h"

namespace trireme {
namespace {

constexpr std::string_view kClasses[] = {"cpu", "gpu"};
constexpr std::string_view kWays[] = {"ring", "direct"};
constexpr std::string_view kSourcePrefix = "sources.";

using Settings = std::map<std::string, const Setting*>;

const Setting& required(const Settings& settings, const std::string& path, const std::string& file,
                        std::string_view example) {
  const auto found = settings.find(path);
  if (found == settings.end()) fail_user("{}: {} is missing; write {}", file, path, example);
  return *found->second;
}

size_t word_index(const Setting& s, std::span<const std::string_view> words) {
  const std::string& text = text_of(s);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) fail_value(s, fmt::format("one of {}", fmt::join(words, ", ")));
  return static_cast<size_t>(found - words.begin());
}

// "2023", "2023-03" or "2023-03-31".
bool is_date(const std::string& text) {
  const char* rest = text.size() == 4 ? "-01-01" : text.size() == 7 ? "-01" : "";
  return day_named(text + rest).has_value();
}

std::vector<NumberSource> read_sources(const TomlSource& source, const Settings& settings) {
  std::vector<NumberSource> sources;
  for (const Setting& setting : source.settings) {
    if (setting.path.rfind(kSourcePrefix, 0) != 0) continue;
    const std::string key =
        setting.path.substr(kSourcePrefix.size(), setting.path.rfind('.') - kSourcePrefix.size());
    const std::string table = fmt::format("{}{}", kSourcePrefix, key);
    if (setting.path.rfind('.') < kSourcePrefix.size())
      fail_user("{}: {} is a table; write [{}.KEY] with a title and a date", setting.where, setting.path,
                setting.path.substr(0, kSourcePrefix.size() - 1));
    if (setting.path != table + ".title" && setting.path != table + ".date")
      fail_user("{}: unknown key {}; a source has title and date", setting.where, setting.path);
    const auto known = [&](const NumberSource& s) { return s.key == key; };
    if (std::any_of(sources.begin(), sources.end(), known)) continue;
    const std::string& title = text_of(required(settings, table + ".title", setting.where,
                                                "title = \"the page or paper, or how it was measured\""));
    const Setting& date = required(settings, table + ".date", setting.where, "date = \"2023-03\"");
    if (!is_date(text_of(date))) fail_value(date, "a date; write \"2023\", \"2023-03\" or \"2023-03-31\"");
    sources.push_back({key, title, text_of(date)});
  }
  return sources;
}

void check_source(const Setting& from, const std::vector<NumberSource>& sources) {
  const std::string& key = text_of(from);
  std::vector<std::string> keys;
  for (const NumberSource& source : sources) keys.push_back(source.key);
  if (std::find(keys.begin(), keys.end(), key) != keys.end()) return;
  const std::string near = nearest(key, keys);
  fail_user("{}: {} = \"{}\" is not a source of this file; {}", from.where, from.path, key,
            near.empty() ? fmt::format("add [sources.{}] with a title and a date", key)
                         : fmt::format("did you mean {}?", near));
}

std::string limit_text(const NumberField& field, double limit) {
  return field.measure ? quantity_text(*field.measure, limit) : fmt::format("{}", limit);
}

double number_of(const Setting& s, const NumberField& field) {
  double value = 0;
  if (field.measure) {
    const std::string* text = std::get_if<std::string>(&s.value.value);
    const auto quantity = text == nullptr ? std::nullopt : parse_quantity(*field.measure, *text);
    if (!quantity)
      fail_value(s, fmt::format("a number with one of the units {}; write it like {}",
                                unit_names(*field.measure), field.example));
    value = *quantity;
  } else if (const int64_t* i = std::get_if<int64_t>(&s.value.value)) {
    value = static_cast<double>(*i);
  } else if (const double* d = std::get_if<double>(&s.value.value)) {
    value = *d;
  } else {
    fail_value(s, fmt::format("a number; write it like {}", field.example));
  }
  if (!(value >= field.min && value <= field.max))
    fail_user("{}: {} = {} is out of range; it is at least {} and at most {}", s.where, s.path, s.value.text,
              limit_text(field, field.min), limit_text(field, field.max));
  return value;
}

void assign(const Setting&, const NumberField&, double value, double& out) { out = value; }

// Bytes are rounded ("1.2 GiB"), counts are whole.
void assign(const Setting& s, const NumberField& field, double value, int64_t& out) {
  if (!field.measure && value != std::floor(value)) fail_value(s, "a whole number");
  out = std::llround(value);
}

std::string assumed_text(const Setting& other, const Setting* in_file) {
  return fmt::format("{} = {} (the file has {})", other.path, other.value.text,
                     in_file == nullptr ? "none" : in_file->value.text);
}

void read_numbers(const Settings& settings, const std::map<std::string, Setting>& assumed,
                  const std::string& file, Hardware& hardware) {
  visit_numbers(hardware, [&](const NumberField& field, auto& out) {
    const std::string key(field.key);
    const auto is = settings.find(key + ".is"), from = settings.find(key + ".from");
    if (const auto other = assumed.find(key); other != assumed.end()) {
      assign(other->second, field, number_of(other->second, field), out);
      hardware.assumed.push_back(assumed_text(other->second, is == settings.end() ? nullptr : is->second));
      return;
    }
    if (is == settings.end() && from == settings.end()) {
      if (!field.required) return;
      fail_user("{}: {} is missing; write {} = {{ is = {}, from = \"KEY\" }}", file, key, key, field.example);
    }
    if (is == settings.end())
      fail_user("{}: {} has a source but no value; write {} = {{ is = {}, from = \"KEY\" }}",
                from->second->where, key, key, field.example);
    assign(*is->second, field, number_of(*is->second, field), out);
    if (from == settings.end())
      fail_user(
          "{}: {} has no source; write {} = {{ is = {}, from = \"KEY\" }} with a [sources.KEY] of a "
          "title and a date",
          is->second->where, key, key, is->second->value.text);
    check_source(*from->second, hardware.sources);
    hardware.source_of.emplace_back(key, text_of(*from->second));
  });
}

void check_known(const TomlSource& source) {
  const std::vector<std::string> numbers = number_keys(), words = {"name", "device", "kind", "collectives"};
  std::set<std::string> known(words.begin(), words.end());
  for (const std::string& key : numbers) known.insert({key + ".is", key + ".from"});
  std::vector<std::string> names = numbers;
  names.insert(names.end(), words.begin(), words.end());
  for (const Setting& s : source.settings) {
    if (known.count(s.path) != 0 || s.path.rfind(kSourcePrefix, 0) == 0 || is_curve_key(s.path)) continue;
    if (std::find(numbers.begin(), numbers.end(), s.path) != numbers.end())
      fail_user(
          "{}: {} = {} has no source; write {} = {{ is = {}, from = \"KEY\" }} with a [sources.KEY] of "
          "a title and a date",
          s.where, s.path, s.value.text, s.path, s.value.text);
    std::string path = s.path;
    for (const std::string_view end : {".is", ".from"})
      if (path.size() > end.size() && path.substr(path.size() - end.size()) == end)
        path.resize(path.size() - end.size());
    fail_user("{}: unknown key {}; {}", s.where, path, did_you_mean(path, names, "a hardware file has"));
  }
}

// What single numbers cannot say.
void check_together(const Hardware& h, const std::string& file) {
  if (h.peak_of(PeakType::fp32) == 0)
    fail_user("{}: peak.fp32 is missing; write peak.fp32 = {{ is = \"67 TFLOP/s\", from = \"KEY\" }}", file);
  if (h.memory_bytes <= h.overhead_bytes)
    fail_user("{}: memory.overhead = {} leaves nothing of memory.size = {}; overhead must be less", file,
              quantity_text(Measure::bytes, static_cast<double>(h.overhead_bytes)),
              quantity_text(Measure::bytes, static_cast<double>(h.memory_bytes)));
}

}  // namespace

Hardware parse_hardware(const std::string& text, const std::string& name,
                        const std::vector<std::string>& assumptions) {
  const TomlSource source = parse_toml(text, name);
  check_known(source);
  Settings settings;
  for (const Setting& setting : source.settings) settings[setting.path] = &setting;

  Hardware hardware;
  hardware.name = text_of(required(settings, "name", name, "name = \"my-machine\""));
  hardware.device = text_of(required(settings, "device", name, "device = \"NVIDIA H100 SXM5 80 GB\""));
  hardware.kind =
      static_cast<DeviceClass>(word_index(required(settings, "kind", name, "kind = \"gpu\""), kClasses));
  hardware.collectives = static_cast<CollectiveWay>(
      word_index(required(settings, "collectives", name, "collectives = \"ring\""), kWays));
  hardware.sources = read_sources(source, settings);
  read_numbers(settings, read_assumptions(assumptions), name, hardware);
  read_curves(source.settings, hardware);
  for (const Setting& setting : source.settings)
    if (is_curve_key(setting.path) && setting.path.substr(setting.path.rfind('.')) == ".from")
      check_source(setting, hardware.sources);
  check_together(hardware, name);
  return hardware;
}

std::string to_toml(const Hardware& h) {
  CHECK(h.assumed.empty(), "{}: an assumption has no source", h.name);
  std::string out = fmt::format("name = {}\ndevice = {}\nkind = \"{}\"\ncollectives = \"{}\"\n",
                                toml_text(h.name), toml_text(h.device), kClasses[static_cast<size_t>(h.kind)],
                                kWays[static_cast<size_t>(h.collectives)]);
  for (const NumberSource& source : h.sources)
    out += fmt::format("\n[sources.{}]\ntitle = {}\ndate = {}\n", toml_text(source.key),
                       toml_text(source.title), toml_text(source.date));
  const std::map<std::string, std::string> source_of(h.source_of.begin(), h.source_of.end());
  std::string section;
  visit_numbers(h, [&](const NumberField& field, const auto& value) {
    const std::string key(field.key);
    const auto from = source_of.find(key);
    if (from == source_of.end()) {
      CHECK(!field.required, "{} of {} has no source", key, h.name);
      return;
    }
    const size_t dot = key.find('.');
    if (section != key.substr(0, dot)) out += fmt::format("\n[{}]\n", key.substr(0, dot));
    section = key.substr(0, dot);
    const std::string is = field.measure
                               ? toml_text(quantity_text(*field.measure, static_cast<double>(value)))
                               : toml_text(value);
    out += fmt::format("{} = {{ is = {}, from = {} }}\n", key.substr(dot + 1), is, toml_text(from->second));
  });
  return out + curves_text(h);
}

}  // namespace trireme
