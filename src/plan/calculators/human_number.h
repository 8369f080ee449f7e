// Numbers as people write them on a command line or in a price file: 7B, 1T, 40 %, 80GB, 30min. Every reader
// takes the key that the text belongs to and gives a UserError with key, value and cure for what is not such
// a number: words, NaN, negative, zero, out of range, or in a unit that it has not.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trireme {

// A positive number up to 1e20: "7B" (or G) is 7e9; K, M, B, T, P, E stand for 1e3 to 1e18; "7e9" and "8192"
// are as they are.
double read_number(std::string_view key, const std::string& text);
// The same, whole and from 1 to `most`.
int64_t read_whole(std::string_view key, const std::string& text, int64_t most = int64_t{1} << 40);
// More than 0 and at most 1: "40 %", "40%" or "0.4". "40" is refused, over 100 % as impossible.
double read_share(std::string_view key, const std::string& text);
// "80GB" of 1e9, "80GiB" of 2^30; a bare number is bytes. Whole bytes.
double read_bytes(std::string_view key, const std::string& text);
// FLOP/s: "989T", "989 TFLOP/s", "989e12"; from 1e8 on, since what is less has lost its suffix.
double read_flops_per_s(std::string_view key, const std::string& text);
// Seconds, from "90s", "30min", "2h", "3d", "1y" (of 365 days); a unit is a must; up to 1e13. `zero` is
// refused unless allowed.
enum class Zero : uint8_t { refused, allowed };
double read_duration(std::string_view key, const std::string& text, Zero zero = Zero::refused);

}  // namespace trireme
