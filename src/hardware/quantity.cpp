// The table of units, and numbers to and from them. Units below one are divided by, not multiplied with a
// rounded 1e-6, so that a text means the double nearest to it.
#include "hardware/quantity.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/parse_text.h"

namespace trireme {
namespace {

struct Unit {
  std::string_view name;
  double times = 1, divided_by = 1;

  double value_of(double number) const { return number * times / divided_by; }
};

constexpr double kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;
constexpr Unit kRates[] = {{"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
constexpr Unit kBytes[] = {{"B", 1},     {"KB", 1e3},  {"MB", 1e6},  {"GB", 1e9}, {"TB", 1e12},
                           {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}};
constexpr Unit kByteRates[] = {{"B/s", 1},     {"MB/s", 1e6},    {"GB/s", 1e9},
                               {"TB/s", 1e12}, {"Mb/s", 1e6, 8}, {"Gb/s", 1e9, 8}};
constexpr Unit kTimes[] = {{"s", 1}, {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}};

std::span<const Unit> units_of(Measure measure) {
  switch (measure) {
    case Measure::flops_per_s:
      return kRates;
    case Measure::bytes:
      return kBytes;
    case Measure::bytes_per_s:
      return kByteRates;
    case Measure::seconds:
      return kTimes;
  }
  return {};
}

}  // namespace

std::optional<double> parse_quantity(Measure measure, std::string_view text) {
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<double>(text.substr(0, blank));
  if (!number || !std::isfinite(*number)) return std::nullopt;
  for (const Unit& unit : units_of(measure))
    if (unit.name == text.substr(blank + 1)) return unit.value_of(*number);
  return std::nullopt;
}

std::string quantity_text(Measure measure, double value) {
  std::string best;
  size_t best_cost = 0;
  for (const Unit& unit : units_of(measure)) {
    // Dividing may miss the number by a bit that 15 digits do not show.
    const double number = value / unit.times * unit.divided_by;
    const bool in_bits = measure == Measure::bytes_per_s && unit.divided_by != 1;
    for (const std::string& digits : {fmt::format("{:.15g}", number), fmt::format("{}", number)}) {
      std::string text = fmt::format("{} {}", digits, unit.name);
      if (parse_quantity(measure, text) != value) continue;
      const size_t cost = text.size() + (number < 1 ? 4 : 0) + (in_bits ? 1 : 0);
      if (!best.empty() && cost > best_cost) continue;
      best = std::move(text);
      best_cost = cost;
    }
  }
  return best;
}

std::string unit_names(Measure measure) {
  std::string names;
  for (const Unit& unit : units_of(measure))
    names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
  return names;
}

}  // namespace trireme
