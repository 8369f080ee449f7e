// Scratch sizes of the attention kernels.
#include "ops/attention/flash.h"

namespace trireme {

int64_t flash_forward_scratch(const FlashSizes& sizes, int threads) { return 4 * sizes.rows * threads; }

int64_t flash_backward_scratch(const FlashSizes& s, int threads) {
  return 4 * s.rows * s.head_dim * (s.heads / s.kv_heads + 2) * threads;
}

int64_t cached_scratch(int64_t, int64_t context, int threads) { return 4 * context * threads; }

}  // namespace trireme
