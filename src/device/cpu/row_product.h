// Products with a weight for a number of rows that is known only when they run, as experts have. Own tiles
// take any number; oneDNN's products are made beforehand for blocks of a few sizes, and the last block of
// rows is padded to the next of them. No result depends on the number of threads.
#pragma once
#include <vector>

#include "device/cpu/weight_product.h"

namespace trireme {

// C[rows,n] = A[rows,k] W, as WeightProduct. Scratch: row_product_scratch_bytes of ops/linear/linear.h.
class RowProduct {
 public:
  // For at most max_rows.
  RowProduct(const WeightSpec& weight, bool packed, int64_t max_rows, const CpuContext& context);
  void run(const void* a, const void* weight, void* c, int64_t rows, std::byte* scratch) const;

 private:
  struct Block {
    int64_t rows = 0;
    WeightProduct product;
  };
  TileProductSpec tile_;
  DType dtype_;
  std::vector<Block> blocks_;  // of rising size; none: tiles
};

// dW[out,in] += dY^T X, as WeightGradient. Scratch: row_gradient_scratch_bytes of ops/linear/linear.h.
class RowGradient {
 public:
  // `rows` of the spec: at most so many. They are summed at once where there are tiles.
  RowGradient(const WeightGradientSpec& spec, const CpuContext& context);
  void run(const void* dy, const void* x, float* dw, int64_t rows, std::byte* scratch) const;

 private:
  struct Block {
    int64_t rows = 0;
    WeightGradient gradient;
  };
  WeightGradientSpec spec_;
  int threads_;
  std::vector<Block> blocks_;  // of rising size; none: tiles
};

}  // namespace trireme
