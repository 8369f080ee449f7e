// Products with a weight matrix, as linear layers and the head need them, on the best kernels that the
// machine has: own AMX tiles for bf16 where weights are packed, else oneDNN. Here it is decided what "packed"
// means.
#pragma once
#include <cstdint>
#include <optional>

#include "device/cpu/kernel.h"
#include "device/cpu/onednn.h"
#include "device/cpu/tile_product.h"

namespace trireme {

// W[out,in] is read by rows (y = x W^T) or by columns (dx = dy W).
enum class WeightUse : uint8_t { forward, input_grad };

// Whether products run on own tiles, which take any number of rows.
bool on_tiles(DType dtype, const CpuContext& context);

struct WeightSpec {
  int64_t out = 0, in = 0;
  DType dtype = DType::f32;
  WeightUse use = WeightUse::forward;
};

// Lays a weight out; the packed form has packed_count elements (ops/linear/linear.h).
class WeightPacker {
 public:
  WeightPacker(const WeightSpec& weight, const CpuContext& context);
  void run(const void* weight, void* packed) const;

 private:
  WeightSpec weight_;
  int threads_;
  bool tiles_;
  std::optional<Repack> repack_;  // absent: tiles, or packed is plain on this machine
};

struct WeightProductSpec {
  WeightSpec weight;
  int64_t rows = 0;
  bool packed = false;
  bool bias = false;
  DType out = DType::f32;
};

// A holds the rows, B the weight. Scratch: product_scratch_bytes of the inner dim.
class WeightProduct {
 public:
  WeightProduct(const WeightProductSpec& spec, const CpuContext& context);
  void run(const ProductOperands& operands) const;

 private:
  TileProductSpec tile_;
  std::optional<Product> product_;  // absent: tiles
};

struct WeightGradientSpec {
  int64_t rows = 0, out = 0, in = 0;
  DType dtype = DType::f32;  // of x and dy
};

// dW[out,in] += dY^T X in f32, kWeightGradRows rows at a time. Scratch: weight_gradient_scratch_bytes of
// ops/linear/linear.h.
class WeightGradient {
 public:
  WeightGradient(const WeightGradientSpec& spec, const CpuContext& context);
  void run(const void* dy, const void* x, float* dw, std::byte* scratch) const;

 private:
  struct Block {
    int64_t rows = 0;
    Product product;
    std::optional<Repack> repack;  // absent: x is read as it is
  };
  Block make_block(int64_t rows, int threads) const;

  WeightGradientSpec spec_;
  int threads_;
  std::optional<Block> full_, tail_;  // absent: tiles
};

}  // namespace trireme
