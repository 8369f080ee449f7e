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
inline constexpr int64_t kForwardQueries = 32, kForwardKeys = 64;
inline constexpr int64_t kBackwardQueries = 64, kBackwardKeys = 128;

inline void clear(float* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) _mm512_store_ps(x + i, _mm512_setzero_ps());
}

struct TargetRows {
  bf16* at = nullptr;
  int64_t stride = 0, width = 0;  // width: at most 32
};

// 32 columns of a row.
[[gnu::always_inline]] inline void write_row(__m512 low, __m512 high, const TargetRows& to, int64_t row) {
  const auto narrow = (__m512i)_mm512_cvtne2ps_pbh(high, low);
  if (to.width == 32)
    _mm512_storeu_si512(to.at + row * to.stride, narrow);
  else
    _mm512_mask_storeu_epi16(to.at + row * to.stride, (1u << to.width) - 1u, narrow);
}

// Two result tiles [32 dims, 16 queries] times `factor` per query, to `rows` rows of queries.
inline void write_transposed(const float* tiles, __m512 factor, int64_t rows, const TargetRows& to) {
  __m512i low[16], high[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) low[i] = (__m512i)(_mm512_load_ps(tiles + i * 16) * factor);
  transpose(low);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) high[i] = (__m512i)(_mm512_load_ps(tiles + kTileFloats + i * 16) * factor);
  transpose(high);
  for (int64_t i = 0; i < rows; ++i) write_row((__m512)low[i], (__m512)high[i], to, i);
}

struct SumRows {
  float* at = nullptr;
  int64_t stride = 0, width = 0;  // width: at most 32
};

// sum = sum * keep + x in the first `width` lanes.
[[gnu::always_inline]] inline void mix_row(__m512 x, float keep, float* sum, int64_t width) {
  const auto lanes = static_cast<__mmask16>(width >= 16 ? 0xffffu : (1u << width) - 1u);
  _mm512_mask_storeu_ps(sum, lanes,
                        _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, sum), _mm512_set1_ps(keep), x));
}

// As write_transposed, onto what is there times `keep` per query.
inline void mix_transposed(const float* tiles, __m512 factor, const float* keep, int64_t rows,
                           const SumRows& to) {
  for (int64_t d = 0; d < to.width; d += 16) {
    __m512i r[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      r[i] = (__m512i)(_mm512_load_ps(tiles + d / 16 * kTileFloats + i * 16) * factor);
    transpose(r);
    for (int64_t i = 0; i < rows; ++i)
      mix_row((__m512)r[i], keep[i], to.at + i * to.stride + d, smaller(16, to.width - d));
  }
}

}  // namespace
}  // namespace trireme
