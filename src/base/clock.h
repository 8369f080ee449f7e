// Time for measuring, never for deciding what is computed.
#pragma once
#include <chrono>

namespace trireme {

// Seconds of a clock that never goes back; only differences mean something.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace trireme
