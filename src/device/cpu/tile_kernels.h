// AMX kernels of bf16 products, and how operands are laid out for them. A tile is 16 rows of 32 bf16.
//
// A[m,k] as panels of 48 rows: [m/48][k/32][48 rows][32]. B[k,n] as blocks of 32 columns with pairs of k side
// by side: [n/32][k/32][16 pairs][32 columns][2], oneDNN's BA16a32b2a. Both are padded with zeros to whole
// tiles.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme::tiles {

inline constexpr int64_t kTile = 16;   // rows of a tile
inline constexpr int64_t kPanel = 48;  // rows of a panel
inline constexpr int64_t kEdge = 32;   // columns of a block, k of a step
inline constexpr int64_t kPanelStep = kPanel * kEdge, kBlockStep = kEdge * kEdge;  // elements

constexpr int64_t steps(int64_t n) { return (n + kEdge - 1) / kEdge; }
constexpr int64_t panels(int64_t m) { return (m + kPanel - 1) / kPanel; }

// The calling thread's tile registers: to be set before multiply and released after.
void configure();
void release();

struct Matrix {
  const bf16* data = nullptr;
  int64_t stride = 0;  // elements between rows
};

// A from a row-major [m,k], and from a row-major [k,m].
void pack_a(const Matrix& from, int64_t m, int64_t k, bf16* to);
void pack_a_transposed(const Matrix& from, int64_t m, int64_t k, bf16* to);

// Blocks of B[k,n], of which [first,last) are wanted; `to` is where block 0 lies.
struct BlocksOfB {
  int64_t k = 0, n = 0;
  int64_t first = 0, last = 0;
};
// From a row-major [k,n], and from a row-major [n,k].
void pack_b(const Matrix& from, const BlocksOfB& blocks, bf16* to);
void pack_b_transposed(const Matrix& from, const BlocksOfB& blocks, bf16* to);

// Memory: `rows` times `row_bytes`, `stride` bytes apart.
struct Region {
  const void* data = nullptr;
  int64_t rows = 0, row_bytes = 0, stride = 0;
};

// to[m,n] = A B (+ sum) (+ bias), rounded to bf16 or not.
struct Multiply {
  const bf16* a = nullptr;  // packed
  const bf16* b = nullptr;  // packed, at the first block and step
  int64_t b_block = 0;      // elements between blocks of B
  int64_t first_block = 0;  // the number of B's first block
  int64_t m = 0, n = 0, k_steps = 0;
  const float* sum = nullptr;  // [m,n] or none; may be `to_f32`
  int64_t sum_stride = 0;
  const bf16* bias = nullptr;  // [n] or none
  bf16* to = nullptr;          // or
  float* to_f32 = nullptr;
  int64_t to_stride = 0;
  Region next = {};  // what is read after this: brought near on the way
};

// The k of one element are summed from zero, in order in blocks of even number, from last to first in odd
// ones. Touches nothing outside [m,n] of sum and to.
void multiply(const Multiply& work);

}  // namespace trireme::tiles
