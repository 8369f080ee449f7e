// AMX kernels of bf16 products, and how operands are laid out for them. Inside, a tile is 16 rows of 32 bf16.
//
// A[m,k] as panels of 32 rows: [m/32][k/32][32 rows][32]. B[k,n] as blocks of 32 columns with pairs of k side
// by side: [n/32][k/32][16 pairs][32 columns][2], oneDNN's BA16a32b2a. Both are padded with zeros. C is f32.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme::tiles {

inline constexpr int64_t kEdge = 32;  // rows of a panel, columns of a block, k of a step
inline constexpr int64_t kStep = kEdge * kEdge;

constexpr int64_t steps(int64_t n) { return (n + kEdge - 1) / kEdge; }
// Elements of a packed A[m,k]; of a packed B[k,n] with n for m.
constexpr int64_t packed_size(int64_t m, int64_t k) { return steps(m) * steps(k) * kStep; }

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

struct Multiply {
  const bf16* a = nullptr;  // packed, at the first step
  int64_t a_panel = 0;      // elements between panels of A
  const bf16* b = nullptr;  // packed, at the first block and step
  int64_t b_block = 0;      // elements between blocks of B
  int64_t m = 0, n = 0, k_steps = 0;
  float* c = nullptr;  // [m,n]
  int64_t c_stride = 0;
  bool add = false;  // C += instead of C =
};

// The k of one element are summed in order, so that cutting k changes no bit. Touches no element of C
// outside [m,n].
void multiply(const Multiply& work);

// to[m,n] = c (+ bias[n]), rounded to bf16 or not.
struct Finish {
  const float* c = nullptr;
  int64_t c_stride = 0, m = 0, n = 0;
  const bf16* bias = nullptr;  // or none
  bf16* to = nullptr;          // or
  float* to_f32 = nullptr;
  int64_t to_stride = 0;
};
void finish(const Finish& work);

}  // namespace trireme::tiles
