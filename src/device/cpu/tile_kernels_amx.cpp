// The AMX kernels: packing by AVX-512 shuffles, products of 3 x 2 tiles of C.
//
// What bounds them is the number of cache lines in flight between the first-level cache and the rest. Hence
// the order of the steps of k is turned from block to block, so that a panel's last steps are found near;
// three tiles of A share each tile of B; C goes out between products, and is asked for before.
#include "device/cpu/tile_kernels.h"
#include "device/cpu/transpose_avx512.h"

#include <immintrin.h>

// g++ 12 takes the undefined operand inside its own shuffle intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

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
  _mm_prefetch(p + kEdge * from.stride, _MM_HINT_T0);  // the next step's
  _mm_prefetch(p + (kEdge + 1) * from.stride, _MM_HINT_T0);
  const __m512i even = load_words(p, k < rows ? columns - n : 0);
  const __m512i odd = load_words(p + from.stride, k + 1 < rows ? columns - n : 0);
  return interleave(even, odd);
}

// The tile intrinsics of g++ 12 do not say that they read memory: everything stored so far must be there.
void settle(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

constexpr int64_t kLine = 64;  // bytes

__m512 load_bf16(__mmask16 mask, const bf16* p) {
  const __m256i words = _mm256_maskz_loadu_epi16(mask, p);
  return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16);
}

// A block of C whose sums lie in a buffer, on its way to memory: row by row, between products of the next.
struct Block {
  alignas(64) float sums[kPanel * kEdge];
  const float* add = nullptr;  // or none
  int64_t add_stride = 0;
  const bf16* bias = nullptr;  // or none
  bf16* to = nullptr;          // or
  float* to_f32 = nullptr;
  int64_t to_stride = 0, rows = 0, done = 0;
  __mmask16 low = 0, high = 0;  // which columns there are

  void finish_row() {
    const int64_t i = done++;
    __m512 x = _mm512_load_ps(sums + i * kEdge), y = _mm512_load_ps(sums + i * kEdge + 16);
    if (add != nullptr) {
      x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(low, add + i * add_stride));
      y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(high, add + i * add_stride + 16));
    }
    if (bias != nullptr) {
      x = _mm512_add_ps(x, load_bf16(low, bias));
      y = _mm512_add_ps(y, load_bf16(high, bias + 16));
    }
    if (to != nullptr) {
      const auto both = (__m512i)_mm512_cvtne2ps_pbh(y, x);
      _mm512_mask_storeu_epi16(to + i * to_stride, low | __mmask32{high} << 16, both);
    } else {
      _mm512_mask_storeu_ps(to_f32 + i * to_stride, low, x);
      _mm512_mask_storeu_ps(to_f32 + i * to_stride + 16, high, y);
    }
  }
  // Asks for the memory that row i will touch.
  void prefetch_row(int64_t i) const {
    const char* row = to != nullptr ? reinterpret_cast<const char*>(to + i * to_stride)
                                    : reinterpret_cast<const char*>(to_f32 + i * to_stride);
    __builtin_prefetch(row, 1, 3);
    if (to == nullptr) __builtin_prefetch(row + kLine, 1, 3);
  }
};

// Memory that is soon needed, asked for some lines at a time.
class Ahead {
 public:
  // Spread over so many steps.
  Ahead(const Region& region, int64_t all_steps)
      : row_(static_cast<const char*>(region.data)),
        region_(region),
        line_(row_),
        rows_left_(region.data != nullptr ? region.rows : 0),
        per_step_((region.rows * (region.row_bytes / kLine + 1) + all_steps - 1) / all_steps) {}

  void step() {
    for (int64_t i = 0; i < per_step_ && rows_left_ > 0; ++i) {
      _mm_prefetch(line_, _MM_HINT_T1);
      line_ += kLine;
      if (line_ < row_ + region_.row_bytes) continue;
      row_ += region_.stride;
      line_ = row_;
      --rows_left_;
    }
  }

 private:
  const char* row_;
  Region region_;
  const char* line_;
  int64_t rows_left_, per_step_;
};

// Where a panel's products find what they need besides.
struct Surroundings {
  Block& before;  // goes to memory meanwhile
  Ahead& next_b;
  Ahead& next;
  bool backward;  // k from last to first: the steps last used are still in the first-level cache
};

// kTiles tiles of A times both tiles of B, for one step of k. Tile 2 i + j sums rows i, columns j.
template <int kTiles>
void multiply_step(const bf16* a, const bf16* b) {
  constexpr int64_t kRows = kTile * kEdge;
  _tile_loadd(7, b, 128);
  _tile_loadd(6, a, 64);
  _tile_dpbf16ps(0, 6, 7);
  if constexpr (kTiles > 1) {
    _tile_loadd(6, a + kRows, 64);
    _tile_dpbf16ps(2, 6, 7);
  }
  if constexpr (kTiles > 2) {
    _tile_loadd(6, a + 2 * kRows, 64);
    _tile_dpbf16ps(4, 6, 7);
  }
  _tile_loadd(7, b + kEdge, 128);
  if constexpr (kTiles > 2) {
    _tile_dpbf16ps(5, 6, 7);
    _tile_loadd(6, a + kRows, 64);
  }
  if constexpr (kTiles > 1) {
    _tile_dpbf16ps(3, 6, 7);
    _tile_loadd(6, a, 64);
  }
  _tile_dpbf16ps(1, 6, 7);
}

// A panel times a block into `block`.
template <int kTiles>
void multiply_block(const bf16* a, const bf16* b, int64_t k_steps, Block& block, const Surroundings& around) {
  const int64_t direction = around.backward ? -1 : 1;
  if (around.backward) {
    a += (k_steps - 1) * kPanelStep;
    b += (k_steps - 1) * kBlockStep;
  }
  Block& before = around.before;
  settle(block.sums);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int64_t k = 0; k < k_steps; ++k, a += direction * kPanelStep, b += direction * kBlockStep) {
    multiply_step<kTiles>(a, b);
    for (int64_t i = 0; i < 3 && before.done < before.rows; ++i) before.finish_row();
    around.next_b.step();
    around.next.step();
    for (int64_t row = 2 * k; row < 2 * k + 2 && row < block.rows; ++row) block.prefetch_row(row);
  }
  constexpr int64_t kRow = kEdge * 4, kSums = kTile * kEdge;
  _tile_stored(0, block.sums, kRow);
  _tile_stored(1, block.sums + 16, kRow);
  if constexpr (kTiles > 1) {
    _tile_stored(2, block.sums + kSums, kRow);
    _tile_stored(3, block.sums + kSums + 16, kRow);
  }
  if constexpr (kTiles > 2) {
    _tile_stored(4, block.sums + 2 * kSums, kRow);
    _tile_stored(5, block.sums + 2 * kSums + 16, kRow);
  }
  settle(block.sums);
  while (before.done < before.rows) before.finish_row();
}

// Where block (panel p, block n) of the product goes.
void aim(Block& block, const Multiply& w, int64_t p, int64_t n) {
  const int64_t row = p * kPanel, column = n * kEdge, columns = w.n - column;
  if (w.sum != nullptr) block.add = w.sum + row * w.sum_stride + column;
  if (w.bias != nullptr) block.bias = w.bias + column;
  if (w.to != nullptr) block.to = w.to + row * w.to_stride + column;
  if (w.to_f32 != nullptr) block.to_f32 = w.to_f32 + row * w.to_stride + column;
  block.add_stride = w.sum_stride;
  block.to_stride = w.to_stride;
  block.rows = w.m - row < kPanel ? w.m - row : kPanel;
  block.done = 0;
  block.low = columns >= 16 ? 0xffff : (1u << columns) - 1;
  block.high = columns >= 32 ? 0xffff : columns > 16 ? (1u << (columns - 16)) - 1 : 0;
}

// Where tile row t (of 16 rows) of A lies, at a step.
bf16* tile_of_a(bf16* packed, int64_t t, int64_t step, int64_t k_steps) {
  constexpr int64_t kTiles = kPanel / kTile;
  return packed + (t / kTiles * k_steps + step) * kPanelStep + t % kTiles * kTile * kEdge;
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
  for (int64_t row = 0; row < m; row += kTile)
    for (int64_t step = 0; step < steps(k); ++step) {
      bf16* tile = tile_of_a(to, row / kTile, step, steps(k));
      for (int64_t i = row; i < row + kTile; ++i, tile += kEdge) {
        const int64_t words = i < m ? k - step * kEdge : 0;
        _mm512_storeu_si512(tile, load_words(from.data + i * from.stride + step * kEdge, words));
      }
    }
}

void pack_a_transposed(const Matrix& from, int64_t m, int64_t k, bf16* to) {
  for (int64_t step = 0; step < steps(k); ++step)
    for (int64_t row = 0; row < m; row += 2 * kTile) {
      __m512i upper[16], lower[16];
      for (int i = 0; i < 16; ++i) {
        const Pairs pairs = load_pairs(from, step * kEdge + 2 * i, k, row, m);
        upper[i] = pairs.low;
        lower[i] = pairs.high;
      }
      transpose(upper);
      bf16* tile = tile_of_a(to, row / kTile, step, steps(k));
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tile + i * kEdge, upper[i]);
      if (row + kTile >= m) continue;
      transpose(lower);
      tile = tile_of_a(to, row / kTile + 1, step, steps(k));
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tile + i * kEdge, lower[i]);
    }
}

void pack_b(const Matrix& from, const BlocksOfB& blocks, bf16* to) {
  const int64_t k_steps = steps(blocks.k);
  for (int64_t step = 0; step < k_steps; ++step)
    for (int64_t block = blocks.first; block < blocks.last; ++block) {
      bf16* pair = to + (block * k_steps + step) * kBlockStep;
      for (int64_t row = step * kEdge; row < (step + 1) * kEdge; row += 2, pair += 2 * kEdge) {
        const Pairs pairs = load_pairs(from, row, blocks.k, block * kEdge, blocks.n);
        _mm512_storeu_si512(pair, pairs.low);
        _mm512_storeu_si512(pair + kEdge, pairs.high);
      }
    }
}

void pack_b_transposed(const Matrix& from, const BlocksOfB& blocks, bf16* to) {
  to += blocks.first * steps(blocks.k) * kBlockStep;
  for (int64_t block = blocks.first; block < blocks.last; ++block)
    for (int64_t k = 0; k < blocks.k; k += kEdge, to += kBlockStep)
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
  const int64_t panel_count = panels(w.m), blocks = steps(w.n), all_steps = panel_count * blocks * w.k_steps;
  // Blocks whose columns of C follow each other: long runs of C while B is small.
  const int64_t group = w.k_steps <= 36 ? 4 : w.k_steps <= 72 ? 2 : 1;
  Ahead next(w.next, all_steps);
  Block both[2];
  int64_t turn = 0;
  for (int64_t first = 0; first < blocks; first += group) {
    const int64_t last = blocks < first + group ? blocks : first + group;
    const int64_t blocks_after = blocks - last < group ? blocks - last : group;
    const int64_t b_bytes = w.k_steps * kBlockStep * 2;
    Ahead next_b({w.b + last * w.b_block, blocks_after, b_bytes, w.b_block * 2},
                 panel_count * (last - first) * w.k_steps);
    for (int64_t p = 0; p < panel_count; ++p)
      for (int64_t n = first; n < last; ++n, turn ^= 1) {
        Block& block = both[turn];
        aim(block, w, p, n);
        const bf16 *a = w.a + p * w.k_steps * kPanelStep, *b = w.b + n * w.b_block;
        const Surroundings around{both[turn ^ 1], next_b, next, (w.first_block + n) % 2 == 1};
        if (block.rows > 2 * kTile)
          multiply_block<3>(a, b, w.k_steps, block, around);
        else if (block.rows > kTile)
          multiply_block<2>(a, b, w.k_steps, block, around);
        else
          multiply_block<1>(a, b, w.k_steps, block, around);
      }
  }
  Block& last = both[turn ^ 1];
  while (last.done < last.rows) last.finish_row();
}

}  // namespace trireme::tiles
