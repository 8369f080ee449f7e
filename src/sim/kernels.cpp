// Products by op, and tile and wave quantisation as NVIDIA's "Matrix Multiplication Background User's Guide"
// (2023) explains it.
#include "sim/kernels.h"

#include <algorithm>
#include <array>

#include "ops/experts/experts.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"
#include "ops/overlap/overlap.h"
#include "sim/op_size.h"

namespace trireme {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

enum class Direction : uint8_t { forward, backward };

ProductShape of_chunks(const ChunkSizes& s) { return {s.ranks * s.chunk_rows(), s.n, s.k, s.chunks}; }

// Backward of a linear: its input's gradient.
ProductShape of_linear(const OpSig& sig, Direction direction) {
  const auto a = unpack_attrs<LinearAttrs>(sig.attrs);
  const int64_t rows = rows_of(sig.inputs[0]);
  return direction == Direction::forward ? ProductShape{rows, a.out, a.in} : ProductShape{rows, a.in, a.out};
}

// Logits and, with backward, dx and dweight, as if all rows were one chunk.
std::vector<ProductShape> of_head(const OpSig& sig, Direction direction) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  const int64_t rows = rows_of(sig.inputs[0]);
  std::vector<ProductShape> shapes = {{rows, a.vocab, a.width}};
  if (direction == Direction::backward) {
    shapes.push_back({rows, a.width, a.vocab});
    shapes.push_back({a.vocab, a.width, rows});
  }
  return shapes;
}

// Each expert here has an even part of the rows that come.
std::vector<ProductShape> of_experts(const OpSig& sig, Direction direction) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  const int64_t rows = std::max<int64_t>(1, s.choices() / std::max<int64_t>(1, s.owned));
  if (direction == Direction::forward)
    return {{rows, 2 * s.ffn, s.width, s.owned}, {rows, s.width, s.ffn, s.owned}};
  return {{rows, s.width, 2 * s.ffn, s.owned},
          {rows, s.ffn, s.width, s.owned},
          {2 * s.ffn, s.width, rows, s.owned},
          {s.width, s.ffn, rows, s.owned}};
}

// Assumed, the same for every device: that kernels have these tiles, and what each reaches. No page at hand
// gives it; docs/published.md's rows were fitted and held out with these.
struct TileChoice {
  int64_t row_cut, column_cut;  // of the whole tile
  double reach;                 // of the whole tile's rate
};
constexpr std::array kTiles = {TileChoice{1, 1, 1.0}, TileChoice{1, 2, 0.95}, TileChoice{2, 2, 0.85},
                               TileChoice{2, 4, 0.65}};

}  // namespace

std::vector<ProductShape> products_of(const OpSig& sig) {
  if (sig.kind == "linear") return {of_linear(sig, Direction::forward)};
  if (sig.kind == "linear_grad_input") return {of_linear(sig, Direction::backward)};
  if (sig.kind == "linear_grad_weight") {
    const auto a = unpack_attrs<LinearGradWeightAttrs>(sig.attrs);
    return {{a.out, a.in, rows_of(sig.inputs[0])}};
  }
  if (sig.kind == "gather_linear") return {of_chunks(gather_linear_sizes(sig))};
  if (sig.kind == "linear_scatter") return {of_chunks(linear_scatter_sizes(sig))};
  if (sig.kind == "head_loss") return of_head(sig, Direction::forward);
  if (sig.kind == "head_loss_grad") return of_head(sig, Direction::backward);
  if (sig.kind == "experts") return of_experts(sig, Direction::forward);
  if (sig.kind == "experts_grad") return of_experts(sig, Direction::backward);
  return {};
}

double tile_share(const KernelModel& kernels, const ProductShape& shape) {
  double best = 0;
  for (const TileChoice& tile : kTiles) {
    const int64_t rows = std::max<int64_t>(1, kernels.tile_rows / tile.row_cut);
    const int64_t columns = std::max<int64_t>(1, kernels.tile_columns / tile.column_cut);
    const int64_t tiles = ceil_div(shape.rows, rows) * ceil_div(shape.columns, columns);
    const int64_t places = ceil_div(tiles, kernels.units) * kernels.units * rows * columns;
    const double used = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
    best = std::max(best, used / static_cast<double>(places) * tile.reach);
  }
  const auto inner = static_cast<double>(shape.inner);
  return best * inner / (inner + static_cast<double>(kernels.tile_fill));
}

}  // namespace trireme
