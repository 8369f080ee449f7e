// Kernels cut their scratch into pieces, whose sizes their definitions add up. Not for files that are
// compiled for an instruction set of their own: the linker could take their copy of what is inline here for
// all.
#pragma once
#include <cstdint>

namespace trireme {

inline constexpr int64_t kScratchAlignment = 64;  // bytes: a cache line, and a vector of AVX-512

// What a piece of so many bytes takes, so that the next one is aligned.
inline int64_t scratch_piece(int64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

}  // namespace trireme
