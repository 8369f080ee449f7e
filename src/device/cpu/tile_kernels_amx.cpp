// The AMX kernels: packing by AVX-512 shuffles, products of 2 x 2 tiles of C.
#include "device/cpu/tile_kernels.h"

#include "device/cpu/simd.h"

// g++ 12 takes the undefined operand inside its own shuffle intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace trireme::tiles {
namespace {

// Rows k, k+1 of B, 32 columns: pairs side by side, columns 0..15 and 16..31.
struct Pairs {
  __m512i low, high;
};

__m512i load_words(const bf16* p, int64_t n) {
  if (n <= 0) return _mm512_setzero_si512();
  const __mmask32 mask = n >= 32 ? 0xffffffffu : (1u << n) - 1;
  return _mm512_maskz_loadu_epi16(mask, p);
}

Pairs interleave(__m512i even, __m512i odd) {
  alignas(64) static constexpr uint16_t kLow[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                    37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                    11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i low = _mm512_load_si512(kLow);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  return {_mm512_permutex2var_epi16(even, low, odd), _mm512_permutex2var_epi16(even, high, odd)};
}

// The pairs of rows (k, k+1) of a row-major [k,n] at column n.
Pairs load_pairs(const Matrix& from, int64_t k, int64_t rows, int64_t n, int64_t columns) {
  const bf16* p = from.data + k * from.stride + n;
  const __m512i even = load_words(p, k < rows ? columns - n : 0);
  const __m512i odd = load_words(p + from.stride, k + 1 < rows ? columns - n : 0);
  return interleave(even, odd);
}

// Transposes 16 x 16 dwords in registers.
void transpose(__m512i (&r)[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// The tile intrinsics of g++ 12 do not say that they read memory: everything stored so far must be there.
void settle(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

// C[32,32] (+)= a panel times a block.
void multiply_block(const bf16* a, const bf16* b, int64_t k_steps, float* c, int64_t c_stride, bool add) {
  settle(c);
  const int64_t row = c_stride * 4;
  float* lower = c + 16 * c_stride;
  if (add) {
    _tile_loadd(0, c, row);
    _tile_loadd(1, c + 16, row);
    _tile_loadd(2, lower, row);
    _tile_loadd(3, lower + 16, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t k = 0; k < k_steps; ++k, a += kStep, b += kStep) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 128);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + 32, 128);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + kStep / 2, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, row);
  _tile_stored(1, c + 16, row);
  _tile_stored(2, lower, row);
  _tile_stored(3, lower + 16, row);
}

// The same for a block that reaches over the edge of C: through a copy.
void multiply_edge(const Multiply& w, int64_t m, int64_t n, const bf16* a, const bf16* b) {
  alignas(64) float copy[kStep] = {};
  const int64_t rows = w.m - m < kEdge ? w.m - m : kEdge, columns = w.n - n < kEdge ? w.n - n : kEdge;
  float* c = w.c + m * w.c_stride + n;
  if (w.add)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) copy[i * kEdge + j] = c[i * w.c_stride + j];
  multiply_block(a, b, w.k_steps, copy, kEdge, w.add);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) c[i * w.c_stride + j] = copy[i * kEdge + j];
}

}  // namespace

void configure() {
  struct alignas(64) Config {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  const Config config;
  settle(&config);
  _tile_loadconfig(&config);
}

void release() { _tile_release(); }

void pack_a(const Matrix& from, int64_t m, int64_t k, bf16* to) {
  for (int64_t panel = 0; panel < m; panel += kEdge)
    for (int64_t step = 0; step < k; step += kEdge)
      for (int64_t i = panel; i < panel + kEdge; ++i, to += kEdge)
        _mm512_storeu_si512(to, load_words(from.data + i * from.stride + step, i < m ? k - step : 0));
}

void pack_a_transposed(const Matrix& from, int64_t m, int64_t k, bf16* to) {
  for (int64_t panel = 0; panel < m; panel += kEdge)
    for (int64_t step = 0; step < k; step += kEdge) {
      __m512i upper[16], lower[16];
      for (int i = 0; i < 16; ++i) {
        const Pairs pairs = load_pairs(from, step + 2 * i, k, panel, m);
        upper[i] = pairs.low;
        lower[i] = pairs.high;
      }
      transpose(upper);
      transpose(lower);
      for (int i = 0; i < 16; ++i, to += kEdge) _mm512_storeu_si512(to, upper[i]);
      for (int i = 0; i < 16; ++i, to += kEdge) _mm512_storeu_si512(to, lower[i]);
    }
}

void pack_b(const Matrix& from, const BlocksOfB& blocks, bf16* to) {
  to += blocks.first * steps(blocks.k) * kStep;
  for (int64_t block = blocks.first; block < blocks.last; ++block)
    for (int64_t row = 0; row < steps(blocks.k) * kEdge; row += 2, to += 2 * kEdge) {
      const Pairs pairs = load_pairs(from, row, blocks.k, block * kEdge, blocks.n);
      _mm512_storeu_si512(to, pairs.low);
      _mm512_storeu_si512(to + kEdge, pairs.high);
    }
}

void pack_b_transposed(const Matrix& from, const BlocksOfB& blocks, bf16* to) {
  to += blocks.first * steps(blocks.k) * kStep;
  for (int64_t block = blocks.first; block < blocks.last; ++block)
    for (int64_t k = 0; k < blocks.k; k += kEdge, to += kStep)
      for (int64_t half = 0; half < kEdge; half += 16) {
        __m512i rows[16];
        for (int64_t i = 0; i < 16; ++i) {
          const int64_t n = block * kEdge + half + i;
          rows[i] = load_words(from.data + n * from.stride + k, n < blocks.n ? blocks.k - k : 0);
        }
        transpose(rows);
        for (int64_t pair = 0; pair < 16; ++pair)
          _mm512_storeu_si512(to + pair * 2 * kEdge + 2 * half, rows[pair]);
      }
}

void multiply(const Multiply& w) {
  const bf16* b = w.b;
  for (int64_t n = 0; n < w.n; n += kEdge, b += w.b_block) {
    const bf16* a = w.a;
    for (int64_t m = 0; m < w.m; m += kEdge, a += w.a_panel)
      if (m + kEdge <= w.m && n + kEdge <= w.n)
        multiply_block(a, b, w.k_steps, w.c + m * w.c_stride + n, w.c_stride, w.add);
      else
        multiply_edge(w, m, n, a, b);
  }
}

void finish(const Finish& w) {
  for (int64_t i = 0; i < w.m; ++i)
    for (int64_t j = 0; j < w.n; j += simd::kLanes) {
      simd::F32x16 x = simd::load(w.c + i * w.c_stride + j, w.n - j);
      if (w.bias != nullptr) x += simd::load(w.bias + j, w.n - j);
      if (w.to != nullptr)
        simd::store(w.to + i * w.to_stride + j, x, w.n - j);
      else
        simd::store(w.to_f32 + i * w.to_stride + j, x, w.n - j);
    }
}

}  // namespace trireme::tiles
