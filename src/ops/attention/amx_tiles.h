// Products of bf16 tiles on AMX, and the four ways in which rows of bf16 are packed into tiles. A tile is 1
// KB and contiguous: 16 rows of 32 bf16 (left factor), 16 pairs of rows of 16 bf16 (right factor) or 16 rows
// of 16 f32 (result). Intel, Architecture Instruction Set Extensions, chapter 3.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "base/dtype.h"
#include "device/cpu/transpose_avx512.h"
#include "ops/attention/flash_span.h"

// g++ 12 warns of the undefined register that its own intrinsics pass and never read.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace trireme {
namespace {

inline constexpr int64_t kTile = 1024;       // bytes
inline constexpr int64_t kTileBf16 = 512;    // elements
inline constexpr int64_t kTileFloats = 256;  // elements
using Bits = uint16_t;                       // of a bf16

// All eight tiles at full size. Other libraries use the tiles too: begin before a task, end after it.
inline void begin_tiles() {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("" : : "r"(&config) : "memory");  // g++ 12 believes that only its first 8 bytes are read
  _tile_loadconfig(&config);
}
inline void end_tiles() { _tile_release(); }

// A matrix of tiles; strides from tile to tile in bytes.
struct Tiles {
  void* at = nullptr;
  int64_t row = 0, column = 0;
  char* tile(int64_t i, int64_t j) const { return static_cast<char*>(at) + i * row + j * column; }
};

// Two columns of tiles of C. The depth is unrolled: with a loop's branch every few tiles this takes three
// times as long.
template <bool kOnto, int kDepth>
[[gnu::noinline]] void multiply_strip(const Tiles& to, const Tiles& x, const Tiles& y, int64_t m) {
  char* c = to.tile(0, 0);
  const char *a = x.tile(0, 0), *b = y.tile(0, 0);
  for (int64_t i = 0; i < m; i += 2, a += 2 * x.row, c += 2 * to.row) {
    char* const next = c + to.row;
    if constexpr (kOnto) {
      _tile_loadd(0, c, 64);
      _tile_loadd(1, c + to.column, 64);
      _tile_loadd(2, next, 64);
      _tile_loadd(3, next + to.column, 64);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
#pragma GCC unroll 4
    for (int64_t l = 0; l < kDepth; ++l) {
      _tile_loadd(4, a + l * x.column, 64);
      _tile_loadd(6, b + l * y.row, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, b + l * y.row + y.column, 64);
      _tile_dpbf16ps(1, 4, 7);
      _tile_loadd(5, a + x.row + l * x.column, 64);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, 64);
    _tile_stored(1, c + to.column, 64);
    _tile_stored(2, next, 64);
    _tile_stored(3, next + to.column, 64);
  }
}

template <bool kOnto>
void multiply_strip_of(int64_t depth, const Tiles& c, const Tiles& a, const Tiles& b, int64_t m) {
  if (depth == 1) return multiply_strip<kOnto, 1>(c, a, b, m);
  if (depth == 2) return multiply_strip<kOnto, 2>(c, a, b, m);
  if (depth == 3) return multiply_strip<kOnto, 3>(c, a, b, m);
  multiply_strip<kOnto, 4>(c, a, b, m);
}

// C (+)= A B with m, n, k counted in tiles; m and n are even. f32 sums in the order of k.
inline void multiply(const Tiles& c, const Tiles& a, const Tiles& b, int64_t m, int64_t n, int64_t k,
                     bool onto) {
  asm volatile("" ::: "memory");  // g++ 12 does not know that a tile load reads memory
  for (int64_t l = 0; l < k; l += 4)
    for (int64_t j = 0; j < n; j += 2) {
      const Tiles to{c.tile(0, j), c.row, c.column}, x{a.tile(0, l), a.row, a.column},
          y{b.tile(l, j), b.row, b.column};
      const int64_t depth = k - l < 4 ? k - l : 4;
      if (onto || l > 0)
        multiply_strip_of<true>(depth, to, x, y, m);
      else
        multiply_strip_of<false>(depth, to, x, y, m);
    }
}

// Lanes (a[i], b[i]) for i in 0..15 and 16..31 of two rows of bf16.
[[gnu::always_inline]] inline void interleave(__m512i a, __m512i b, __m512i& low, __m512i& high) {
  const __m512i first = _mm512_add_epi32(
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(32 << 16));
  const __m512i lanes = _mm512_or_si512(
      first, _mm512_slli_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 16));
  low = _mm512_permutex2var_epi16(a, lanes, b);
  high = _mm512_permutex2var_epi16(a, _mm512_add_epi16(lanes, _mm512_set1_epi16(16)), b);
}

// Rows of bf16 in memory: `rows` of `width` elements; what lies past either reads as zero.
struct SourceRows {
  const bf16* at = nullptr;
  int64_t stride = 0, rows = 0, width = 0;
  [[gnu::always_inline]] __m512i load(int64_t row, int64_t column) const {  // 32 elements
    const int64_t left = row < rows ? width - column : 0;
    if (left > 0) ask_for(at + column, stride, row, rows);
    if (left >= 32) return _mm512_loadu_si512(at + row * stride + column);
    if (left <= 0) return _mm512_setzero_si512();
    return _mm512_maskz_loadu_epi16((1u << left) - 1u, at + row * stride + column);
  }
};

// The packings take `padded` rows and D columns, both multiples of 32, and lay tiles out as said.

// Left factor, not transposed: tile (row / 16, column / 32) at (row tile) * D/32 + (column tile).
inline void pack_left(const SourceRows& x, int64_t padded, int64_t D, Bits* out) {
  for (int64_t i = 0; i < padded; ++i)
    for (int64_t d = 0; d < D; d += 32)
      _mm512_storeu_si512(out + i / 16 * 16 * D + d * 16 + i % 16 * 32, x.load(i, d));
}

// Left factor, transposed: tile (column / 16, row / 32) at (row tile) * D/16 + (column tile).
inline void pack_left_transposed(const SourceRows& x, int64_t padded, int64_t D, Bits* out) {
  for (int64_t i = 0; i < padded; i += 32)
    for (int64_t d = 0; d < D; d += 32) {
      __m512i low[16], high[16];
      for (int j = 0; j < 16; ++j)
        interleave(x.load(i + 2 * j, d), x.load(i + 2 * j + 1, d), low[j], high[j]);
      transpose(low);
      transpose(high);
      Bits* tile = out + i * D + d * 32;
      for (int j = 0; j < 16; ++j) {
        _mm512_storeu_si512(tile + j * 32, low[j]);
        _mm512_storeu_si512(tile + kTileBf16 + j * 32, high[j]);
      }
    }
}

// Right factor, not transposed: tile (row / 32, column / 16) at (row tile) * D/16 + (column tile).
inline void pack_right(const SourceRows& x, int64_t padded, int64_t D, Bits* out) {
  for (int64_t i = 0; i < padded; i += 2)
    for (int64_t d = 0; d < D; d += 32) {
      __m512i low, high;
      interleave(x.load(i, d), x.load(i + 1, d), low, high);
      Bits* tile = out + i / 32 * 32 * D + d * 32 + i % 32 / 2 * 32;
      _mm512_storeu_si512(tile, low);
      _mm512_storeu_si512(tile + kTileBf16, high);
    }
}

// Right factor, transposed: tile (column / 32, row / 16) at (row tile) * D/32 + (column tile).
inline void pack_right_transposed(const SourceRows& x, int64_t padded, int64_t D, Bits* out) {
  for (int64_t i = 0; i < padded; i += 16)
    for (int64_t d = 0; d < D; d += 32) {
      __m512i r[16];
      for (int j = 0; j < 16; ++j) r[j] = x.load(i + j, d);
      transpose(r);
      Bits* tile = out + i * D + d * 16;
      for (int j = 0; j < 16; ++j) _mm512_storeu_si512(tile + j * 32, r[j]);
    }
}

}  // namespace
}  // namespace trireme
