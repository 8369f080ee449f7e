// Splits [0, n) over the threads of one rank. How it is split must not change any result: bodies write
// disjoint outputs, and sums use fixed chunks of their own.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace trireme {

// Calls body(begin, end) with contiguous ranges, one per thread; ranges are multiples of `grain` but for the
// last. Runs on the caller alone when there is too little to share.
template <class Body>
void parallel_for(int threads, int64_t n, int64_t grain, const Body& body) {
  const int64_t pieces = (n + grain - 1) / grain;
  const int team = static_cast<int>(std::min<int64_t>(threads, pieces));
  if (team <= 1) {
    if (n > 0) body(int64_t{0}, n);
    return;
  }
#pragma omp parallel num_threads(team)
  {
    const int64_t rank = omp_get_thread_num(), size = omp_get_num_threads();
    const int64_t begin = pieces * rank / size * grain;
    const int64_t end = std::min(n, pieces * (rank + 1) / size * grain);
    if (begin < end) body(begin, end);
  }
}

// The same with tasks taken one by one, for pieces of unequal cost: body(index).
template <class Body>
void parallel_tasks(int threads, int64_t n, const Body& body) {
  const int team = static_cast<int>(std::min<int64_t>(threads, n));
  if (team <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
  for (int64_t i = 0; i < n; ++i) body(i);
}

}  // namespace trireme
