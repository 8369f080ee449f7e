// Sizes and scratch of the attention kernels: plain numbers, for def.cpp and for files of every instruction
// set.
#pragma once
#include <cstdint>

namespace trireme {

// Ranges of queries and keys are cut at multiples of this, whatever the kernel's own tiles.
inline constexpr int64_t kFlashBlock = 128;

// From this many new rows on, cached attention runs as flash attention; below, a query at a time.
inline constexpr int64_t kFlashRows = 16;

// Bytes of scratch of one slot (flash_task.h), an upper bound over all instruction sets; multiples of 64.
int64_t flash_forward_slot_bytes(int64_t query_rows, int64_t key_rows, int64_t head_dim);
int64_t flash_backward_slot_bytes(int64_t query_rows, int64_t key_rows, int64_t head_dim);
int64_t cached_slot_bytes(int64_t query_rows, int64_t context, int64_t head_dim);

}  // namespace trireme
