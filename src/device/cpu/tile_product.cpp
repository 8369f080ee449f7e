// Blocks a product for the caches: A is packed in blocks of rows that stay in the second-level cache, B
// passes, a few blocks at a time, C is written once, or, where k is long, summed in f32 on the way.
#include "device/cpu/tile_product.h"

#include <omp.h>

#include <algorithm>

#include "device/cpu/parallel.h"
#include "device/cpu/tile_kernels.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

using tiles::kBlockStep;
using tiles::kEdge;
using tiles::steps;

// Rows of A that a thread keeps packed in its second-level cache, with all of k or a part.
constexpr int64_t kRows = 288, kFewRows = 144, kGradientRows = 240;
constexpr int64_t kShortSteps = 48;     // of k: up to so many go with kRows,
constexpr int64_t kWholeSteps = 96;     // up to so many with kFewRows; a longer k is cut into parts of
constexpr int64_t kPartSteps = 48;      // steps, and sums lie in f32 between them, for
constexpr int64_t kPartColumns = 1024;  // columns and kRows rows at a time

struct Range {
  int64_t first = 0, size = 0;
};

int64_t resident_rows(int64_t k) {
  return steps(k) > kShortSteps && steps(k) <= kWholeSteps ? kFewRows : kRows;
}

// One thread's share of C = A B: some rows, some columns.
class Share {
 public:
  Share(const TileProductSpec& spec, const TileOperands& operands, std::byte* scratch)
      : s_(spec), o_(operands), scratch_(scratch) {}

  void run(Range rows, Range columns) const {
    if (steps(s_.k) > kWholeSteps)
      for (int64_t at = 0; at < columns.size; at += kPartColumns)
        run_parts(rows, {columns.first + at, std::min(kPartColumns, columns.size - at)});
    else
      run_whole(rows, columns);
  }

 private:
  const bf16* a(int64_t row) const { return static_cast<const bf16*>(o_.a) + row * s_.k; }

  tiles::Multiply work(Range rows, Range columns) const {
    const int64_t block = steps(s_.k) * kBlockStep;
    return {.b = static_cast<const bf16*>(o_.b) + columns.first / kEdge * block,
            .b_block = block,
            .first_block = columns.first / kEdge,
            .m = rows.size,
            .n = columns.size};
  }

  void set_output(tiles::Multiply& work, Range rows, Range columns) const {
    const int64_t at = rows.first * s_.n + columns.first;
    if (s_.bias) work.bias = static_cast<const bf16*>(o_.bias) + columns.first;
    work.to = s_.out == DType::f32 ? nullptr : static_cast<bf16*>(o_.c) + at;
    work.to_f32 = s_.out == DType::f32 ? static_cast<float*>(o_.c) + at : nullptr;
    work.to_stride = s_.n;
  }

  // All of k at once.
  void run_whole(Range rows, Range columns) const {
    auto* packed = reinterpret_cast<bf16*>(scratch_);
    tiles::pack_a({a(rows.first), s_.k}, rows.size, s_.k, packed);
    tiles::Multiply product = work(rows, columns);
    product.a = packed;
    product.k_steps = steps(s_.k);
    set_output(product, rows, columns);
    const int64_t after = rows.first + rows.size;
    product.next = {a(after), 1, std::min(rows.size, s_.m - after) * s_.k * 2, 0};
    tiles::multiply(product);
  }

  // k part by part.
  void run_parts(Range rows, Range columns) const {
    auto* packed = reinterpret_cast<bf16*>(scratch_);
    auto* sums = reinterpret_cast<float*>(packed + kRows * kPartSteps * kEdge);
    tiles::Multiply product = work(rows, columns);
    for (int64_t step = 0; step < steps(s_.k); step += kPartSteps) {
      const int64_t count = std::min(kPartSteps, steps(s_.k) - step), k = step * kEdge;
      tiles::pack_a({a(rows.first) + k, s_.k}, rows.size, std::min(s_.k - k, count * kEdge), packed);
      product.a = packed;
      product.k_steps = count;
      product.sum = step > 0 ? sums : nullptr;
      product.to_f32 = sums;
      product.sum_stride = product.to_stride = kPartColumns;
      if (step + count == steps(s_.k)) set_output(product, rows, columns);
      tiles::multiply(product);
      product.b += count * kBlockStep;
    }
  }

  const TileProductSpec& s_;
  const TileOperands& o_;
  std::byte* scratch_;
};

}  // namespace

void run_tile_product(const TileProductSpec& s, const TileOperands& o) {
  const int64_t most = resident_rows(s.k);
  const auto share = [&](Range rows, Range columns) {
    tiles::configure();
    const Share part(s, o, o.scratch + omp_get_thread_num() * product_scratch_bytes(s.k, 1));
    for (int64_t at = 0; at < rows.size; at += most)
      part.run({rows.first + at, std::min(most, rows.size - at)}, columns);
    tiles::release();
  };
  if (s.m >= most * s.threads)
    parallel_for(s.threads, s.m, tiles::kTile, [&](int64_t begin, int64_t end) {
      share({begin, end - begin}, {0, s.n});
    });
  else
    parallel_for(s.threads, s.n, kEdge, [&](int64_t begin, int64_t end) {
      share({0, s.m}, {begin, end - begin});
    });
}

void run_tile_gradient(const TileGradientSpec& s, const bf16* dy, const bf16* x, float* c,
                       std::byte* scratch) {
  auto* packed_x = reinterpret_cast<bf16*>(scratch);
  std::byte* packed_dy = scratch + packed_count(s.n, s.k_block, "forward") * 2;
  for (int64_t k = 0; k < s.k; k += s.k_block) {
    const int64_t depth = std::min(s.k_block, s.k - k);
    parallel_for(s.threads, steps(s.n), 1, [&](int64_t begin, int64_t end) {
      tiles::pack_b({x + k * s.n, s.n}, {.k = depth, .n = s.n, .first = begin, .last = end}, packed_x);
    });
    parallel_for(s.threads, s.m, tiles::kTile, [&](int64_t begin, int64_t end) {
      tiles::configure();
      auto* a =
          reinterpret_cast<bf16*>(packed_dy + omp_get_thread_num() * product_scratch_bytes(s.k_block, 1));
      for (int64_t row = begin; row < end; row += kGradientRows) {
        const int64_t m = std::min(kGradientRows, end - row);
        tiles::pack_a_transposed({dy + k * s.m + row, s.m}, m, depth, a);
        tiles::multiply(
            {.a = a,
             .b = packed_x,
             .b_block = steps(depth) * kBlockStep,
             .m = m,
             .n = s.n,
             .k_steps = steps(depth),
             .sum = c + row * s.n,
             .sum_stride = s.n,
             .to_f32 = c + row * s.n,
             .to_stride = s.n,
             .next = {dy + k * s.m + row + m, depth, std::min(kGradientRows, end - row - m) * 2, s.m * 2}});
      }
      tiles::release();
    });
  }
}

}  // namespace trireme
