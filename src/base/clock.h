// Time for measuring, never for deciding what is computed.
#pragma once
#include <chrono>
#include <ctime>

namespace trireme {

// Seconds of a clock that never goes back; only differences mean something.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that this thread has been on a core.
inline double thread_seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace trireme
