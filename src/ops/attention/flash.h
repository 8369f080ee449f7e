// Sizes and scratch of the attention kernels: plain numbers, for def.cpp and for files of every instruction
// set.
#pragma once
#include <cstdint>

namespace trireme {

struct FlashSizes {
  int64_t batch = 0, rows = 0;  // B, T
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
};

// Bytes of scratch on `threads` threads.
int64_t flash_forward_scratch(const FlashSizes& sizes, int threads);
int64_t flash_backward_scratch(const FlashSizes& sizes, int threads);
int64_t cached_scratch(int64_t head_dim, int64_t context, int threads);

}  // namespace trireme
