// What the two AMX files share: block sizes and the way out of a transposed tile.
#pragma once
#include <immintrin.h>

#include "ops/attention/amx_tiles.h"
#include "ops/attention/flash_buffers.h"
#include "ops/attention/flash_task.h"

namespace trireme {

// cpu_backward_amx.cpp.
void flash_backward_amx(const FlashBackward<bf16>& task, void* scratch);

namespace {

// Blocks; multiples of 32 and at most kQueryRows x kKeyRows.
inline constexpr int64_t kForwardQueries = 64, kForwardKeys = 128;
inline constexpr int64_t kBackwardQueries = 64, kBackwardKeys = 64;

struct TargetRows {
  bf16* at = nullptr;
  int64_t stride = 0, width = 0;  // width: at most 16
};

[[gnu::always_inline]] inline void write_row(__m512 x, const TargetRows& to, int64_t row) {
  const auto narrow = (__m256i)_mm512_cvtneps_pbh(x);
  const auto lanes = static_cast<__mmask16>((1u << to.width) - 1u);
  _mm256_mask_storeu_epi16(to.at + row * to.stride, lanes, narrow);
}

// A result tile [16 dims, 16 queries] times `factor` per query, to `rows` rows of queries.
inline void write_transposed(const float* tile, __m512 factor, int64_t rows, const TargetRows& to) {
  __m512i r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = (__m512i)(_mm512_load_ps(tile + i * 16) * factor);
  transpose(r);
  for (int64_t i = 0; i < rows; ++i) write_row((__m512)r[i], to, i);
}

}  // namespace
}  // namespace trireme
