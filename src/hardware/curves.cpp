// Curves: keys taken apart, points read and sorted, and the way back.
#include "hardware/curves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/dtype.h"
#include "base/error.h"
#include "base/parse_text.h"
#include "base/suggestion.h"
#include "config/toml_text.h"
#include "hardware/quantity.h"
#include "hardware/setting_text.h"

namespace trireme {
namespace {

constexpr size_t kMostDims = 8;
constexpr int64_t kMostSize = int64_t{1} << 50;
const std::vector<std::string> kCollectives = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                               "send"};

std::optional<int64_t> whole(std::string_view text, int64_t max) {
  const auto value = parse_number<int64_t>(text);
  return value && *value >= 1 && *value <= max ? value : std::nullopt;
}

// The 2 of "threads-2".
std::optional<int64_t> count_after(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  return whole(text.substr(word.size()), 1 << 20);
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// What a curve's table has, before its kind is known.
struct CurveTable {
  std::string where;
  const Setting* points = nullptr;
  const Setting* from = nullptr;
};

// visit(size's text, seconds) for each "SIZE: TIME".
template <class Visit>
void visit_points(const Setting& setting, std::string_view example, Visit&& visit) {
  const TomlList* list = std::get_if<TomlList>(&setting.value.value);
  if (list == nullptr || list->empty())
    fail_user("{}: {} = {} is not a list of points; write [\"{}\", ...]", setting.where, setting.path,
              setting.value.text, example);
  for (const TomlValue& point : *list) {
    const std::string* text = std::get_if<std::string>(&point.value);
    const size_t colon = text == nullptr ? std::string::npos : text->find(": ");
    const auto seconds = colon == std::string::npos
                             ? std::nullopt
                             : parse_quantity(Measure::seconds, std::string_view(*text).substr(colon + 2));
    if (!seconds || *seconds <= 0 || *seconds > 1e6 || !visit(text->substr(0, colon), *seconds))
      fail_user("{}: {}: {} is not a size and a time; write it like \"{}\"", setting.where, setting.path,
                point.text, example);
  }
}

template <class Points>
void sort_points(const Setting& setting, Points& points) {
  std::sort(points.begin(), points.end());
  const auto twice = std::adjacent_find(points.begin(), points.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != points.end())
    fail_user("{}: {} has a size twice, at {:g} s and {:g} s; keep one", setting.where, setting.path,
              twice->second, (twice + 1)->second);
}

void read_op(const std::string& key, const CurveTable& table, Hardware& hardware) {
  const auto parts = split_at('.', key);
  const auto threads = parts.size() == 4 ? count_after(parts[3], "threads-") : std::nullopt;
  if (!threads || !is_word(parts[1]) || !dtype_named(parts[2]))
    fail_user("{}: {} is not an op, a dtype and threads; write it like [op.linear.bf16.threads-1]",
              table.where, key);
  OpCurve curve{std::string(parts[1]), std::string(parts[2]), *threads, {}};
  visit_points(*table.points, "512x256x256: 394 us", [&](const std::string& text, double seconds) {
    std::vector<int64_t> size;
    for (const std::string_view part : split_at('x', text)) {
      const auto dim = whole(part, kMostSize);
      if (!dim) return false;
      size.push_back(*dim);
    }
    const bool as_others = curve.points.empty() || curve.points[0].first.size() == size.size();
    curve.points.emplace_back(std::move(size), seconds);
    return as_others && curve.points.back().first.size() <= kMostDims;
  });
  sort_points(*table.points, curve.points);
  hardware.ops.push_back(std::move(curve));
}

void read_collective(const std::string& key, const CurveTable& table, Hardware& hardware) {
  const auto parts = split_at('.', key);
  const auto ranks = parts.size() == 3 ? count_after(parts[2], "ranks-") : std::nullopt;
  if (!ranks || *ranks < 2)
    fail_user("{}: {} is not a collective and 2 or more ranks; write it like [collective.all_reduce.ranks-2]",
              table.where, key);
  const std::string op(parts[1]);
  if (std::find(kCollectives.begin(), kCollectives.end(), op) == kCollectives.end())
    fail_user("{}: {}: unknown collective {}; {}", table.where, key, op,
              did_you_mean(op, kCollectives, "it is one of"));
  CommCurve curve{op, *ranks, {}};
  visit_points(*table.points, "4096 B: 21.5 us", [&](const std::string& text, double seconds) {
    const auto bytes = parse_quantity(Measure::bytes, text);
    if (!bytes || *bytes < 1 || *bytes > 1e15 || *bytes != static_cast<double>(static_cast<int64_t>(*bytes)))
      return false;
    curve.points.emplace_back(static_cast<int64_t>(*bytes), seconds);
    return true;
  });
  sort_points(*table.points, curve.points);
  hardware.comms.push_back(std::move(curve));
}

std::string table_text(const Hardware& hardware, const std::string& key,
                       const std::vector<std::string>& lines) {
  const auto source = std::find_if(hardware.source_of.begin(), hardware.source_of.end(),
                                   [&](const auto& entry) { return entry.first == key; });
  CHECK(source != hardware.source_of.end(), "{} has no source", key);
  std::string out = fmt::format("\n[{}]\nfrom = {}\npoints = [\n", key, toml_text(source->second));
  for (const std::string& line : lines) out += fmt::format("  {},\n", toml_text(line));
  return out + "]\n";
}

}  // namespace

bool is_curve_key(const std::string& path) {
  return path.rfind("op.", 0) == 0 || path.rfind("collective.", 0) == 0;
}

void read_curves(const std::vector<Setting>& settings, Hardware& hardware) {
  std::vector<std::pair<std::string, CurveTable>> tables;  // in the file's order
  std::map<std::string, size_t> index;
  for (const Setting& setting : settings) {
    if (!is_curve_key(setting.path)) continue;
    const size_t dot = setting.path.rfind('.');
    const std::string key = setting.path.substr(0, dot), last = setting.path.substr(dot + 1);
    const auto [at, added] = index.try_emplace(key, tables.size());
    if (added) tables.push_back({key, {.where = setting.where}});
    CurveTable& table = tables[at->second].second;
    if (last != "points" && last != "from")
      fail_user("{}: unknown key {}; a curve has points and from", setting.where, setting.path);
    (last == "points" ? table.points : table.from) = &setting;
  }
  for (const auto& [key, table] : tables) {
    if (table.points == nullptr)
      fail_user("{}: {} has no points; write points = [\"SIZE: TIME\", ...]", table.where, key);
    if (table.from == nullptr)
      fail_user("{}: {} has no source; write from = \"KEY\" with a [sources.KEY] of a title and a date",
                table.where, key);
    const bool of_op = key.rfind("op.", 0) == 0;
    if (of_op) {
      read_op(key, table, hardware);
    } else {
      read_collective(key, table, hardware);
    }
    hardware.source_of.emplace_back(of_op ? curve_key(hardware.ops.back()) : curve_key(hardware.comms.back()),
                                    text_of(*table.from));
  }
}

std::string curve_key(const OpCurve& curve) {
  return fmt::format("op.{}.{}.threads-{}", curve.op, curve.dtype, curve.threads);
}

std::string curve_key(const CommCurve& curve) {
  return fmt::format("collective.{}.ranks-{}", curve.op, curve.ranks);
}

std::string curves_text(const Hardware& hardware) {
  std::string out;
  std::vector<std::string> lines;
  for (const OpCurve& curve : hardware.ops) {
    lines.clear();
    for (const auto& [size, seconds] : curve.points)
      lines.push_back(fmt::format("{}: {}", fmt::join(size, "x"), quantity_text(Measure::seconds, seconds)));
    out += table_text(hardware, curve_key(curve), lines);
  }
  for (const CommCurve& curve : hardware.comms) {
    lines.clear();
    for (const auto& [bytes, seconds] : curve.points)
      lines.push_back(fmt::format("{} B: {}", bytes, quantity_text(Measure::seconds, seconds)));
    out += table_text(hardware, curve_key(curve), lines);
  }
  return out;
}

}  // namespace trireme
