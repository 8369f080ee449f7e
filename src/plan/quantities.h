// Numbers as people read them in the planner's reports, beside those of plan/calculators/worked.h.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trireme {

std::string counted(int64_t number, std::string_view noun);  // "1 rank", "8 ranks"
std::string grouped(int64_t number);                         // "70,553,706,496"
std::string bytes_text(int64_t bytes);  // "42.63 GB", "8.10 MB" of little, bytes of very little
std::string seconds_text(double seconds, int digits = 3);  // "1.24 s", "310 ms", "48 us"
std::string change_percent(double factor);                 // 1.08: "+8.0 %"

}  // namespace trireme
