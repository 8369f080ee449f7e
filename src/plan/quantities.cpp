// Three or four digits are what a prediction is worth; bytes are exact where they stand alone.
#include "plan/quantities.h"

#include <fmt/format.h>

#include <cmath>

namespace trireme {

std::string counted(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number < 0 ? -number : number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return (number < 0 ? "-" : "") + digits;
}

std::string bytes_text(int64_t bytes) {
  const double b = static_cast<double>(bytes), size = std::abs(b);
  if (size >= 1e8) return fmt::format("{:.2f} GB", b / 1e9);
  if (size >= 1e5) return fmt::format("{:.2f} MB", b / 1e6);
  return fmt::format("{} bytes", bytes);
}

std::string seconds_text(double seconds, int digits) {
  if (seconds == 0) return "0";
  if (std::abs(seconds) >= 1) return fmt::format("{:.{}g} s", seconds, digits);
  if (std::abs(seconds) >= 1e-3) return fmt::format("{:.{}g} ms", seconds * 1e3, digits);
  return fmt::format("{:.{}g} us", seconds * 1e6, digits);
}

std::string change_percent(double factor) { return fmt::format("{:+.1f} %", (factor - 1) * 100); }

}  // namespace trireme
