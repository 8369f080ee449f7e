// What a config section is made of: a struct template over "how a key is held" and one list of its
// fields. RawConfig holds every key as std::optional (what the user wrote), RunSpec holds plain values
// (what resolve chose). The list gives each key's documentation and limits, and it alone drives
// parsing, printing, diff, hash and the reference page (config/fields.h).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace trireme {

template <class T>
using Maybe = std::optional<T>;  // as written: absent means "choose for me"
template <class T>
using Plain = T;  // as resolved

// Limits of a number, both ends allowed unless the end is marked open.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_open = false;
  bool max_open = false;
};
inline constexpr double kMaxCount =
    1e15;  // larger counts are typing mistakes; int64 and double hold it exactly
constexpr Range at_least(double min) { return {.min = min}; }
constexpr Range count_from(double min) { return {.min = min, .max = kMaxCount}; }
constexpr Range above(double min) { return {.min = min, .min_open = true}; }
constexpr Range between(double min, double max) { return {.min = min, .max = max}; }
constexpr Range from_to_below(double min, double max) { return {.min = min, .max = max, .max_open = true}; }

// Does another value change the numbers of the run, or only how and where it runs?
enum class Effect : uint8_t { math, logistics };

struct Field {
  std::string_view key;              // within its section; "rope_scaling.factor" is a key of a nested table
  std::string_view unit = "";        // "tokens", "sequences", ...; "" for pure numbers and words
  std::string_view by_default = "";  // "required" or how it is derived; "" when the list gives a value
  Range range = {};                  // of numbers, and of each number in a list
  Effect effect = Effect::math;
  std::string_view meaning = "";   // one line
  std::string_view only_for = "";  // the setting without which the key has no meaning
  bool applies = true;             // false in a RunSpec that lacks that setting
};

// An enum is written by its names, in the order of its values: each enum E of a config has
// `std::span<const std::string_view> names_of_values(E)`, found by argument-dependent lookup.
template <class E>
std::string_view name_of_value(E value) {
  return names_of_values(value)[static_cast<size_t>(value)];
}

// True for a plain value that equals one of `values`, and for a value as written, which is not decided yet.
template <class T, class... V>
bool may_be(const std::optional<T>&, V...) {
  return true;
}
template <class T, class... V>
bool may_be(const T& value, V... values) {
  return ((value == values) || ...);
}

// Likewise for a number above a limit.
template <class T>
bool may_exceed(const std::optional<T>&, T) {
  return true;
}
template <class T>
bool may_exceed(const T& value, T limit) {
  return value > limit;
}

}  // namespace trireme
