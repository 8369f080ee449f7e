// Numbers as people read them in the planner's reports.
#pragma once
#include <cstdint>
#include <string>

namespace trireme {

std::string grouped(int64_t number);        // "70,553,706,496"
std::string gigabytes(int64_t bytes);       // "42.63 GB", "8.1 MB" of little
std::string seconds_text(double seconds);   // "1.24 s", "310 ms", "48 us"
std::string percent(double share);          // "41.3 %"
std::string change_percent(double factor);  // 1.08: "+8.0 %"

}  // namespace trireme
