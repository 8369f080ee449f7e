// A short measurement, once per run.
#include "device/cpu/peak.h"

#include <time.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "device/cpu/weight_product.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

// 64-byte aligned memory of at least `bytes`, touched.
struct Block {
  explicit Block(int64_t bytes) : memory(static_cast<size_t>(bytes) + 64) {}
  std::byte* data() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }
  std::vector<std::byte> memory;
};

}  // namespace

double measure_product_rate(DType dtype, int threads) {
  constexpr int64_t kSize = 1024;
  constexpr double kBudget_s = 0.06;
  constexpr int kLeastRuns = 3;
  const CpuContext one{.threads = 1, .isa = detect_isa()};
  const WeightSpec weight{.out = kSize, .in = kSize, .dtype = dtype};
  Block plain(kSize * kSize * 4), packed(packed_count(kSize, kSize, "forward") * 4), x(kSize * kSize * 4),
      y(kSize * kSize * 4), scratch(product_scratch_bytes(kSize, 1));
  WeightPacker(weight, one).run(plain.data(), packed.data());
  const WeightProduct product({.weight = weight, .rows = kSize, .packed = true, .out = dtype}, one);
  const ProductOperands operands{x.data(), packed.data(), y.data(), nullptr, scratch.data()};
  double best_s = 1e30;
  const double begin = thread_seconds_now();
  for (int run = 0; run < kLeastRuns || thread_seconds_now() - begin < kBudget_s; ++run) {
    const double start = thread_seconds_now();
    product.run(operands);
    best_s = std::min(best_s, thread_seconds_now() - start);
  }
  return 2.0 * kSize * kSize * kSize / best_s * threads;
}

}  // namespace trireme
