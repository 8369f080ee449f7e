// Scratch of the attention kernels: the buffers with 4-byte elements bound those with 2-byte ones.
#include "ops/attention/flash_buffers.h"

namespace trireme {

int64_t flash_forward_slot_bytes(int64_t, int64_t key_rows, int64_t head_dim) {
  ForwardBuffers<float> buffers;
  return carve(buffers, nullptr, key_rows, head_dim);
}

int64_t flash_backward_slot_bytes(int64_t query_rows, int64_t key_rows, int64_t head_dim) {
  BackwardBuffers<float> buffers;
  return carve(buffers, nullptr, query_rows, key_rows, head_dim);
}

int64_t cached_slot_bytes(int64_t query_rows, int64_t context, int64_t head_dim) {
  const int64_t weights = (4 * context + 63) / 64 * 64;
  return query_rows < kFlashRows ? weights : flash_forward_slot_bytes(query_rows, context, head_dim);
}

}  // namespace trireme
