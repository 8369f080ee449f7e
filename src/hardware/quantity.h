// Numbers with units as hardware files write them: "989.4 TFLOP/s", "80 GiB", "400 Gb/s", "3 us".
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme {

enum class Measure : uint8_t { flops_per_s, bytes, bytes_per_s, seconds };

// In FLOP/s, bytes, bytes/s or seconds; nothing where the text is not a finite number, a blank and a unit.
std::optional<double> parse_quantity(Measure measure, std::string_view text);

// A short text that parse_quantity reads back to the same bits.
std::string quantity_text(Measure measure, double value);

std::string unit_names(Measure measure);  // "FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s", for messages

}  // namespace trireme
