// Cuts rows into blocks that products were made for.
#include "device/cpu/row_product.h"

#include <algorithm>
#include <cstring>

#include "ops/linear/linear.h"
#include "ops/scratch.h"

namespace trireme {
namespace {

constexpr int64_t kLeastRows = 8, kLeastGradientRows = 16;  // of a padded block

// least, 2 least, 4 least, ... up to the first that is not below min(max_rows, most).
std::vector<int64_t> block_sizes(int64_t least, int64_t max_rows, int64_t most) {
  std::vector<int64_t> sizes = {least};
  while (sizes.back() < std::min(max_rows, most)) sizes.push_back(2 * sizes.back());
  return sizes;
}

template <class Block>
const Block& block_for(const std::vector<Block>& blocks, int64_t rows) {
  size_t i = 0;
  while (i + 1 < blocks.size() && blocks[i].rows < rows) ++i;
  return blocks[i];
}

void copy_bytes(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace

RowProduct::RowProduct(const WeightSpec& weight, bool packed, int64_t max_rows, const CpuContext& context)
    : dtype_(weight.dtype) {
  const bool forward = weight.use == WeightUse::forward;
  tile_ = {.n = forward ? weight.out : weight.in,
           .k = forward ? weight.in : weight.out,
           .out = weight.dtype,
           .threads = context.threads};
  if (packed && on_tiles(weight.dtype, context)) return;
  for (const int64_t rows : block_sizes(kLeastRows, max_rows, kRowBlock))
    blocks_.push_back(
        {rows, WeightProduct({.weight = weight, .rows = rows, .packed = packed, .out = dtype_}, context)});
}

void RowProduct::run(const void* a, const void* weight, void* c, int64_t rows, std::byte* scratch) const {
  if (blocks_.empty()) {
    TileProductSpec spec = tile_;
    spec.m = rows;
    if (rows > 0) run_tile_product(spec, {.a = a, .b = weight, .c = c, .scratch = scratch});
    return;
  }
  const int64_t a_row = tile_.k * size_of(dtype_), c_row = tile_.n * size_of(dtype_);
  std::byte *padded_a = scratch, *padded_c = padded_a + kRowBlock * a_row;
  std::byte* own = scratch + scratch_piece(kRowBlock * (a_row + c_row));
  for (int64_t row = 0; row < rows;) {
    const Block& block = block_for(blocks_, rows - row);
    const int64_t n = std::min(block.rows, rows - row);
    const bool whole = n == block.rows;
    const auto* from = static_cast<const std::byte*>(a) + row * a_row;
    auto* to = static_cast<std::byte*>(c) + row * c_row;
    if (!whole) {
      copy_bytes(padded_a, from, n * a_row);
      std::memset(padded_a + n * a_row, 0, static_cast<size_t>((block.rows - n) * a_row));
    }
    block.product.run(
        {.a = whole ? from : padded_a, .b = weight, .c = whole ? to : padded_c, .scratch = own});
    if (!whole) copy_bytes(to, padded_c, n * c_row);
    row += n;
  }
}

RowGradient::RowGradient(const WeightGradientSpec& spec, const CpuContext& context)
    : spec_(spec), threads_(context.threads) {
  if (on_tiles(spec.dtype, context)) return;
  for (const int64_t rows : block_sizes(kLeastGradientRows, spec.rows, kGradientRowBlock))
    blocks_.push_back({rows, WeightGradient({rows, spec.out, spec.in, spec.dtype}, context)});
}

void RowGradient::run(const void* dy, const void* x, float* dw, int64_t rows, std::byte* scratch) const {
  if (blocks_.empty()) {
    if (rows > 0)
      run_tile_gradient({.m = spec_.out, .n = spec_.in, .k = rows, .k_block = rows, .threads = threads_},
                        static_cast<const bf16*>(dy), static_cast<const bf16*>(x), dw, scratch);
    return;
  }
  const int64_t dy_row = spec_.out * size_of(spec_.dtype), x_row = spec_.in * size_of(spec_.dtype);
  std::byte *padded_dy = scratch, *padded_x = padded_dy + kGradientRowBlock * dy_row;
  std::byte* own = scratch + scratch_piece(kGradientRowBlock * (dy_row + x_row));
  for (int64_t row = 0; row < rows;) {
    const Block& block = block_for(blocks_, rows - row);
    const int64_t n = std::min(block.rows, rows - row), missing = block.rows - n;
    const auto* from_dy = static_cast<const std::byte*>(dy) + row * dy_row;
    const auto* from_x = static_cast<const std::byte*>(x) + row * x_row;
    if (missing > 0) {  // rows of zeros add nothing
      copy_bytes(padded_dy, from_dy, n * dy_row);
      copy_bytes(padded_x, from_x, n * x_row);
      std::memset(padded_dy + n * dy_row, 0, static_cast<size_t>(missing * dy_row));
      std::memset(padded_x + n * x_row, 0, static_cast<size_t>(missing * x_row));
      from_dy = padded_dy;
      from_x = padded_x;
    }
    block.gradient.run(from_dy, from_x, dw, own);
    row += n;
  }
}

}  // namespace trireme
