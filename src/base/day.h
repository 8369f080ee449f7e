// Days as people write them.
#pragma once
#include <chrono>
#include <optional>
#include <string_view>

namespace trireme {

// "2026-01-15"; nothing where the text is no day of the calendar, of 1970 to 2999.
std::optional<std::chrono::sys_days> day_named(std::string_view text);

}  // namespace trireme
