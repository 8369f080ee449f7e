// Which positions of a sequence a rank of cp has: a chunk of each half, so that causal work is even (zigzag),
// or one contiguous part.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace trireme {

// (begin, count) of its runs, in the order of its rows.
std::vector<std::pair<int64_t, int64_t>> rows_of(int64_t length, int64_t ranks, int64_t rank, bool zigzag);

}  // namespace trireme
