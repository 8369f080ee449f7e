// The planner's only use of threads: one pure function for each of many inputs.
#pragma once
#include <cstddef>
#include <functional>

namespace trireme {

// Calls work(0) to work(count - 1), each once, on up to `threads` threads; the first exception among them is
// thrown once all have ended.
void in_parallel(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace trireme
