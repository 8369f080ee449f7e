// bf16 products on AMX tiles: what Product is for the shapes and layouts that training uses, at a higher
// rate.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct TileProductSpec {
  int64_t m = 0, n = 0, k = 0;  // A[m,k] B[k,n] C[m,n]; bf16 but for f32 C
  DType out = DType::bf16;
  bool bias = false;
  int threads = 1;
};

struct TileOperands {
  const void* a = nullptr;  // row-major
  const void* b = nullptr;  // packed (tile_kernels.h)
  void* c = nullptr;
  const void* bias = nullptr;
  std::byte* scratch = nullptr;
};

// C = A B (+ bias). Scratch: product_scratch_bytes(k, threads) of ops/linear/linear.h.
void run_tile_product(const TileProductSpec& spec, const TileOperands& operands);

struct TileGradientSpec {
  int64_t m = 0, n = 0, k = 0;
  int64_t k_block = 0;  // rows of X packed at a time
  int threads = 1;
};

// C[m,n] += dY^T X with row-major dY[k,m], X[k,n]; C is f32. Scratch: a packed [k_block,n] and
// product_scratch_bytes(k_block, threads).
void run_tile_gradient(const TileGradientSpec& spec, const bf16* dy, const bf16* x, float* c,
                       std::byte* scratch);

}  // namespace trireme
