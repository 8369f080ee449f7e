// Numbers as people read them. Locale and clock play no part: the same value gives the same text.
#include "plan/calculators/worked.h"

#include <fmt/format.h>

#include <cmath>

namespace trireme {

const Worked* find_result(const Answer& answer, std::string_view key) {
  for (const AnswerSection& section : answer.sections)
    for (const Worked& result : section.results)
      if (result.key == key) return &result;
  return nullptr;
}

std::string plain(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e-3 && size < 1e6) return fmt::format("{:.6g}", value);
  if (size < 1) {  // "3e-4"
    const std::string text = fmt::format("{:.5e}", value);
    const size_t e = text.find('e'), last = text.find_last_not_of('0', e - 1);
    return fmt::format("{}e-{}", text.substr(0, text[last] == '.' ? last : last + 1),
                       std::stoi(text.substr(e + 2)));
  }
  int exponent = static_cast<int>(std::floor(std::log10(size) / 3.0)) * 3;
  std::string mantissa = fmt::format("{:.6g}", value / std::pow(10.0, exponent));
  if (mantissa == "1000" || mantissa == "-1000") {  // rounding carried
    exponent += 3;
    mantissa = mantissa[0] == '-' ? "-1" : "1";
  }
  return fmt::format("{}e{}", mantissa, exponent);
}

std::string as_bytes(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  double value = bytes;
  while (std::abs(value) >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  const std::string number = unit == 0 ? plain(value) : fmt::format("{:.1f}", value);
  return fmt::format("{} {}", number.ends_with(".0") ? number.substr(0, number.size() - 2) : number,
                     kUnits[unit]);
}

std::string as_percent(double fraction) {
  // A share that is not whole must not read as if it were.
  const int digits = fraction < 1 && fraction > 0.9995 ? 3 : (fraction > 0 && fraction < 0.0005 ? 4 : 1);
  return fmt::format("{:.{}f} %", 100 * fraction, digits);
}

std::string as_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const double minutes = std::round(seconds / 60);
  if (minutes < 60) {
    const double rest = std::round(seconds - 60 * std::floor(seconds / 60));
    if (seconds >= 600 || rest == 0 || rest == 60) return fmt::format("{:.0f} min", minutes);
    return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / 60), rest);
  }
  if (minutes < 48 * 60)
    return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
  const double hours = std::round(seconds / kHour_s);
  if (hours >= 1000 * 24) return fmt::format("{} days", plain(std::round(hours / 24)));
  return fmt::format("{:.0f} days {:.0f} h", std::floor(hours / 24), std::fmod(hours, 24));
}

std::string as_money(double amount, std::string_view currency) {
  std::string digits = fmt::format("{:.2f}", amount);
  for (size_t at = digits.find('.'); at > 3 && digits[at - 4] != '-'; at -= 3) digits.insert(at - 3, ",");
  return fmt::format("{} {}", digits, currency);
}

namespace {

Worked shown_as(Worked result, std::string unit, std::string shown) {
  result.unit = std::move(unit);
  result.shown = std::move(shown);
  return result;
}

}  // namespace

Worked worked_bytes(Worked result) {
  std::string shown = as_bytes(result.value);
  return shown_as(std::move(result), "B", std::move(shown));
}

Worked worked_fraction(Worked result) {
  std::string shown = as_percent(result.value);
  return shown_as(std::move(result), "", std::move(shown));
}

Worked worked_seconds(Worked result) {
  std::string shown = as_duration(result.value);
  return shown_as(std::move(result), "s", std::move(shown));
}

Worked worked_number(Worked result) {
  result.shown = result.unit.empty() ? plain(result.value) : plain(result.value) + " " + result.unit;
  return result;
}

}  // namespace trireme
