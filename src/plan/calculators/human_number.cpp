// A number is digits, then blanks, then a suffix; each reader has a table of suffixes.
#include "plan/calculators/human_number.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/error.h"
#include "plan/calculators/worked.h"

namespace trireme {
namespace {

constexpr double kMost = 1e20;
constexpr double kLongest_s = 1e13;        // 300,000 years
constexpr double kLeastFlops_per_s = 1e8;  // what is less has lost its suffix

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr Suffix kCounts[] = {{"", 1},    {"K", 1e3},  {"k", 1e3},  {"M", 1e6}, {"B", 1e9},
                              {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
constexpr double kKi = 1024;
constexpr Suffix kBytes[] = {{"", 1},
                             {"B", 1},
                             {"kB", 1e3},
                             {"KB", 1e3},
                             {"MB", 1e6},
                             {"GB", 1e9},
                             {"TB", 1e12},
                             {"PB", 1e15},
                             {"KiB", kKi},
                             {"MiB", kKi* kKi},
                             {"GiB", kKi* kKi* kKi},
                             {"TiB", kKi* kKi* kKi* kKi}};
constexpr Suffix kSeconds[] = {
    {"ms", 1e-3},           {"s", 1},           {"sec", 1},    {"m", 60},        {"min", 60},
    {"h", kHour_s},         {"hours", kHour_s}, {"d", kDay_s}, {"days", kDay_s}, {"y", 365 * kDay_s},
    {"years", 365 * kDay_s}};

struct Pieces {
  double number = 0;
  std::string suffix;
};

// nullopt when the text does not begin with a number.
std::optional<Pieces> take_apart(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return std::nullopt;
  Pieces pieces;
  const char* first = text.data() + begin;
  const char* last = text.data() + text.size();
  if (*first == '+') ++first;
  const auto [end, error] = std::from_chars(first, last, pieces.number);
  if (error == std::errc::result_out_of_range)
    pieces.number = INFINITY;
  else if (error != std::errc())
    return std::nullopt;
  pieces.suffix.assign(end, last);
  std::erase(pieces.suffix, ' ');
  return pieces;
}

struct Form {
  std::string_view what;  // "a number"
  std::string_view cure;  // "write 7B, 7e9 or 7000000000"
  Zero zero = Zero::refused;
  double most = kMost;
};

double in_range(std::string_view key, const std::string& text, double value, const Form& form) {
  if (std::isnan(value)) fail_user("{} {}: NaN is no {}; {}", key, text, form.what, form.cure);
  if (value < 0) fail_user("{} {}: it must not be negative; {}", key, text, form.cure);
  if (value == 0 && form.zero == Zero::refused)
    fail_user("{} {}: it must be more than 0; {}", key, text, form.cure);
  if (value > form.most) fail_user("{} {}: too large, at most {:g}; {}", key, text, form.most, form.cure);
  return value;
}

double read_with(std::string_view key, const std::string& text, std::span<const Suffix> suffixes,
                 const Form& form) {
  const std::optional<Pieces> pieces = take_apart(text);
  if (!pieces) fail_user("{} {}: that is no {}; {}", key, text.empty() ? "\"\"" : text, form.what, form.cure);
  for (const Suffix& suffix : suffixes)
    if (suffix.name == pieces->suffix) return in_range(key, text, pieces->number * suffix.factor, form);
  if (pieces->suffix.empty()) fail_user("{} {}: it needs a unit; {}", key, text, form.cure);
  fail_user("{} {}: {} is no unit that it has; {}", key, text, pieces->suffix, form.cure);
}

}  // namespace

double read_number(std::string_view key, const std::string& text) {
  return read_with(key, text, kCounts, {.what = "number", .cure = "write 7B, 7e9 or 7000000000"});
}

int64_t read_whole(std::string_view key, const std::string& text, int64_t most) {
  const double value = read_with(key, text, kCounts, {.what = "whole number", .cure = "write 8, 8192 or 8K"});
  if (value != std::floor(value)) fail_user("{} {}: it must be a whole number", key, text);
  if (value > static_cast<double>(most)) fail_user("{} {}: too large, at most {}", key, text, most);
  return static_cast<int64_t>(value);
}

double read_share(std::string_view key, const std::string& text) {
  constexpr Suffix kShares[] = {{"", 1}, {"%", 0.01}};
  const double value = read_with(key, text, kShares, {.what = "share", .cure = "write 40% or 0.4"});
  if (value <= 1) return value;
  if (text.find('%') != std::string::npos)
    fail_user("{} {}: more than 100 % of the peak is impossible; write 40% or 0.4", key, text);
  fail_user("{} {}: more than 1, which is 100 %; write {}% or {:g}", key, text,
            value <= 100 ? fmt::format("{:g}", value) : "40", value <= 100 ? value / 100 : 0.4);
}

double read_bytes(std::string_view key, const std::string& text) {
  const double value =
      read_with(key, text, kBytes, {.what = "size", .cure = "write 80GB (of 1e9), 80GiB (of 2^30) or bytes"});
  return std::floor(value);
}

double read_flops_per_s(std::string_view key, const std::string& text) {
  std::string bare = text;
  for (const std::string_view unit : {"FLOP/s", "FLOPS", "FLOPs", "flops"})
    if (bare.ends_with(unit)) {
      bare.resize(bare.size() - unit.size());
      break;
    }
  const double value =
      read_with(key, bare, kCounts, {.what = "rate", .cure = "write 989T, 989TFLOP/s or 989e12"});
  if (value < kLeastFlops_per_s)
    fail_user("{} {}: no device has so few FLOP/s; write {}T, if it is TFLOP/s", key, text, bare);
  return value;
}

double read_duration(std::string_view key, const std::string& text, Zero zero) {
  return read_with(
      key, text, kSeconds,
      {.what = "time", .cure = "write 90s, 30min, 2h, 3d or 1y", .zero = zero, .most = kLongest_s});
}

}  // namespace trireme
