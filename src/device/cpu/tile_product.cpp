// Blocks a product for the caches: A is packed in blocks of rows that stay in L2, B passes through L1 a few
// steps of k at a time, C is summed in f32.
#include "device/cpu/tile_product.h"

#include <omp.h>

#include <algorithm>

#include "device/cpu/parallel.h"
#include "device/cpu/tile_kernels.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

using tiles::kEdge;
using tiles::kStep;
using tiles::steps;

constexpr int64_t kRows = 256, kFewerRows = 128;  // of A at a time, for short and long k
constexpr int64_t kPackedSteps = 96;              // of k in one packed A
constexpr int64_t kPackedA = kFewerRows / kEdge * kPackedSteps * kStep;  // elements
constexpr int64_t kInnerSteps = 12;                                      // of k between two visits of C
constexpr int64_t kGroup = 256, kLongGroup = 4096;  // columns of C at a time, for short and long k

struct Range {
  int64_t first = 0, size = 0;
};

int64_t rounded(int64_t n) { return steps(n) * kEdge; }

// Rows per task: what fits, in equal shares.
int64_t block_rows(int64_t m, int64_t k, int threads) {
  const int64_t limit =
      kRows / kEdge * std::min(steps(k), kPackedSteps) * kStep <= kPackedA ? kRows : kFewerRows;
  const int64_t rounds = (m + limit * threads - 1) / (limit * threads);
  return std::min(limit, rounded((m + rounds * threads - 1) / (rounds * threads)));
}

// Sums packed A times packed B over `count` steps into C.
void multiply_steps(tiles::Multiply work, int64_t count) {
  const bf16 *a = work.a, *b = work.b;
  for (int64_t step = 0; step < count; step += kInnerSteps) {
    work.a = a + step * kStep;
    work.b = b + step * kStep;
    work.k_steps = std::min(kInnerSteps, count - step);
    tiles::multiply(work);
    work.add = true;
  }
}

// One thread's share of C = A B: some rows, some columns.
class Share {
 public:
  Share(const TileProductSpec& spec, const TileOperands& operands, std::byte* scratch)
      : s_(spec),
        o_(operands),
        a_(reinterpret_cast<bf16*>(scratch)),
        c_(reinterpret_cast<float*>(a_ + kPackedA)) {}

  void run(Range rows, Range columns) const {
    const bool is_long = steps(s_.k) > kPackedSteps;
    const int64_t group = is_long ? kLongGroup : kGroup;
    for (int64_t at = 0; at < columns.size; at += group) {
      const Range part{columns.first + at, std::min(group, columns.size - at)};
      for (int64_t step = 0; step < steps(s_.k); step += kPackedSteps) {
        const int64_t count = std::min(kPackedSteps, steps(s_.k) - step), k = step * kEdge;
        if (is_long || at == 0)
          tiles::pack_a({static_cast<const bf16*>(o_.a) + rows.first * s_.k + k, s_.k}, rows.size,
                        std::min(s_.k - k, count * kEdge), a_);
        const int64_t block = steps(s_.k) * kStep;
        multiply_steps({.a = a_,
                        .a_panel = count * kStep,
                        .b = static_cast<const bf16*>(o_.b) + part.first / kEdge * block + step * kStep,
                        .b_block = block,
                        .m = rounded(rows.size),
                        .n = rounded(part.size),
                        .c = c_,
                        .c_stride = rounded(part.size),
                        .add = step > 0},
                       count);
      }
      finish(rows, part);
    }
  }

 private:
  void finish(Range rows, Range columns) const {
    const int64_t at = rows.first * s_.n + columns.first;
    const bool to_f32 = s_.out == DType::f32;
    tiles::finish({.c = c_,
                   .c_stride = rounded(columns.size),
                   .m = rows.size,
                   .n = columns.size,
                   .bias = s_.bias ? static_cast<const bf16*>(o_.bias) + columns.first : nullptr,
                   .to = to_f32 ? nullptr : static_cast<bf16*>(o_.c) + at,
                   .to_f32 = to_f32 ? static_cast<float*>(o_.c) + at : nullptr,
                   .to_stride = s_.n});
  }

  const TileProductSpec& s_;
  const TileOperands& o_;
  bf16* a_;
  float* c_;
};

}  // namespace

void run_tile_product(const TileProductSpec& s, const TileOperands& o) {
  const int64_t rows = block_rows(s.m, s.k, s.threads), blocks = (s.m + rows - 1) / rows;
  // Few rows: the columns are shared instead.
  const int64_t cuts = blocks < s.threads ? s.threads : 1;
  const int64_t columns = rounded((s.n + cuts - 1) / cuts);
  parallel_for(s.threads, blocks * cuts, 1, [&](int64_t begin, int64_t end) {
    tiles::configure();
    const Share share(s, o, o.scratch + omp_get_thread_num() * product_scratch_bytes(s.k, 1));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / cuts * rows, column = task % cuts * columns;
      if (column < s.n)
        share.run({row, std::min(rows, s.m - row)}, {column, std::min(columns, s.n - column)});
    }
    tiles::release();
  });
}

void run_tile_gradient(const TileGradientSpec& s, const bf16* dy, const bf16* x, float* c,
                       std::byte* scratch) {
  auto* packed_x = reinterpret_cast<bf16*>(scratch);
  std::byte* packed_dy = scratch + packed_count(s.n, s.k_block, "forward") * 2;
  const int64_t rows = block_rows(s.m, s.k_block, s.threads);
  for (int64_t k = 0; k < s.k; k += s.k_block) {
    const int64_t depth = std::min(s.k_block, s.k - k);
    parallel_for(s.threads, steps(s.n), 1, [&](int64_t begin, int64_t end) {
      tiles::pack_b({x + k * s.n, s.n}, {.k = depth, .n = s.n, .first = begin, .last = end}, packed_x);
    });
    parallel_for(s.threads, s.m, rows, [&](int64_t begin, int64_t end) {
      tiles::configure();
      auto* a =
          reinterpret_cast<bf16*>(packed_dy + omp_get_thread_num() * product_scratch_bytes(s.k_block, 1));
      for (int64_t row = begin; row < end; row += rows) {
        const int64_t m = std::min(rows, end - row);
        tiles::pack_a_transposed({dy + k * s.m + row, s.m}, m, depth, a);
        for (int64_t column = 0; column < s.n; column += kGroup)
          multiply_steps({.a = a,
                          .a_panel = steps(depth) * kStep,
                          .b = packed_x + column / kEdge * steps(depth) * kStep,
                          .b_block = steps(depth) * kStep,
                          .m = m,
                          .n = std::min(kGroup, s.n - column),
                          .c = c + row * s.n + column,
                          .c_stride = s.n,
                          .add = true},
                         steps(depth));
      }
      tiles::release();
    });
  }
}

}  // namespace trireme
