// Whether something else ran while a machine was measured.
#pragma once
#include <cstddef>

#include "hardware/hardware.h"

namespace trireme {

// Sizes of ops that took on several threads more than twice as long as on one: threads that wait for each
// other show best that one of them had no core. Calls of microseconds do not count.
struct ThreadedPoints {
  size_t all = 0, slower = 0;
};
ThreadedPoints threaded_points(const Hardware& hardware);

// Above it a machine should be measured again.
inline constexpr double kDisturbedPart = 0.05;

}  // namespace trireme
