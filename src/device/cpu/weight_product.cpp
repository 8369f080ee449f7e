// Picks kernels: tiles for bf16 on AMX, oneDNN with its blocked weights where it has fast kernels for them,
// oneDNN on plain weights elsewhere (a packed weight is then the plain one).
#include "device/cpu/weight_product.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/parallel.h"
#include "device/cpu/tile_kernels.h"
#include "ops/linear/linear.h"

namespace trireme {

bool on_tiles(DType dtype, const CpuContext& context) {
  return dtype == DType::bf16 && context.isa == CpuIsa::amx;
}

WeightPacker::WeightPacker(const WeightSpec& weight, const CpuContext& context)
    : weight_(weight), threads_(context.threads), tiles_(on_tiles(weight.dtype, context)) {
  if (tiles_ || !products_read_packed(weight.dtype)) return;
  const bool forward = weight.use == WeightUse::forward;
  repack_.emplace(RepackSpec{.k = forward ? weight.in : weight.out,
                             .n = forward ? weight.out : weight.in,
                             .dtype = weight.dtype,
                             .from = forward ? MatrixLayout::transposed : MatrixLayout::row_major,
                             .threads = context.threads});
}

void WeightPacker::run(const void* weight, void* packed) const {
  if (repack_) {
    repack_->run(weight, packed);
  } else if (tiles_) {
    const tiles::Matrix from{static_cast<const bf16*>(weight), weight_.in};
    auto* to = static_cast<bf16*>(packed);
    const bool forward = weight_.use == WeightUse::forward;
    const int64_t k = forward ? weight_.in : weight_.out, n = forward ? weight_.out : weight_.in;
    parallel_for(threads_, tiles::steps(n), 1, [&](int64_t begin, int64_t end) {
      const auto pack = forward ? tiles::pack_b_transposed : tiles::pack_b;
      pack(from, {.k = k, .n = n, .first = begin, .last = end}, to);
    });
  } else {
    std::memcpy(packed, weight, static_cast<size_t>(weight_.out * weight_.in * size_of(weight_.dtype)));
  }
}

WeightProduct::WeightProduct(const WeightProductSpec& spec, const CpuContext& context) {
  const WeightSpec& weight = spec.weight;
  const bool forward = weight.use == WeightUse::forward;
  tile_ = {.m = spec.rows,
           .n = forward ? weight.out : weight.in,
           .k = forward ? weight.in : weight.out,
           .out = spec.out,
           .bias = spec.bias,
           .threads = context.threads};
  if (spec.packed && on_tiles(weight.dtype, context)) return;
  const MatrixLayout plain = forward ? MatrixLayout::transposed : MatrixLayout::row_major;
  product_.emplace(
      ProductSpec{.m = tile_.m,
                  .n = tile_.n,
                  .k = tile_.k,
                  .in = weight.dtype,
                  .out = spec.out,
                  .b = spec.packed && products_read_packed(weight.dtype) ? MatrixLayout::packed : plain,
                  .bias = spec.bias,
                  .threads = context.threads});
}

void WeightProduct::run(const ProductOperands& o) const {
  if (product_)
    product_->run(o);
  else
    run_tile_product(tile_, {.a = o.a, .b = o.b, .c = o.c, .bias = o.bias, .scratch = o.scratch});
}

WeightGradient::WeightGradient(const WeightGradientSpec& spec, const CpuContext& context)
    : spec_(spec), threads_(context.threads) {
  if (on_tiles(spec.dtype, context)) return;
  const int64_t block = std::min(spec.rows, kWeightGradRows), tail = spec.rows % block;
  full_.emplace(make_block(block, context.threads));
  if (tail != 0) tail_.emplace(make_block(tail, context.threads));
}

WeightGradient::Block WeightGradient::make_block(int64_t rows, int threads) const {
  const bool packs = products_read_packed(spec_.dtype);
  Block block{.rows = rows,
              .product = Product({.m = spec_.out,
                                  .n = spec_.in,
                                  .k = rows,
                                  .in = spec_.dtype,
                                  .out = DType::f32,
                                  .a = MatrixLayout::transposed,
                                  .b = packs ? MatrixLayout::packed : MatrixLayout::row_major,
                                  .accumulate = true,
                                  .threads = threads}),
              .repack = std::nullopt};
  if (packs)
    block.repack.emplace(RepackSpec{.k = rows, .n = spec_.in, .dtype = spec_.dtype, .threads = threads});
  return block;
}

void WeightGradient::run(const void* dy, const void* x, float* dw, std::byte* scratch) const {
  const int64_t rows_at_once = std::min(spec_.rows, kWeightGradRows);
  if (!full_) {
    run_tile_gradient(
        {.m = spec_.out, .n = spec_.in, .k = spec_.rows, .k_block = rows_at_once, .threads = threads_},
        static_cast<const bf16*>(dy), static_cast<const bf16*>(x), dw, scratch);
    return;
  }
  std::byte* own = scratch + packed_count(spec_.in, rows_at_once, "forward") * size_of(spec_.dtype);
  for (int64_t row = 0; row < spec_.rows; row += rows_at_once) {
    const Block& block = spec_.rows - row < rows_at_once ? *tail_ : *full_;
    const void* b = static_cast<const std::byte*>(x) + row * spec_.in * size_of(spec_.dtype);
    if (block.repack) {
      block.repack->run(b, scratch);
      b = scratch;
    }
    block.product.run({.a = static_cast<const std::byte*>(dy) + row * spec_.out * size_of(spec_.dtype),
                       .b = b,
                       .c = dw,
                       .scratch = own});
  }
}

}  // namespace trireme
