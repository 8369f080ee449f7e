// A shuffle that is computed, not stored: where element i of [0, size) goes.
#pragma once
#include <cstdint>

namespace trireme {

// A bijection of [0, size) chosen by `key`: a Feistel network over the fewest bits that hold size - 1,
// applied again while the result falls outside (cycle walking; Black and Rogaway 2002, "Ciphers with
// arbitrary finite domains"). Less than two passes on average. 0 <= i < size.
uint64_t permuted(uint64_t i, uint64_t size, uint64_t key);

}  // namespace trireme
