// A short measurement, once per run.
#include "device/cpu/peak.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "device/cpu/onednn.h"
#include "ops/linear/linear.h"

namespace trireme {

double measure_product_rate(DType dtype, int threads) {
  constexpr int64_t kSize = 1536;
  constexpr int kRuns = 5;
  const auto bytes = static_cast<size_t>(kSize * kSize * size_of(dtype));
  const std::vector<std::byte> a(bytes), b(bytes);
  std::vector<std::byte> c(bytes), scratch(static_cast<size_t>(product_scratch_bytes(kSize, threads)) + 64);
  ProductSpec spec{.m = kSize, .n = kSize, .k = kSize, .in = dtype, .out = dtype};
  spec.b = MatrixLayout::transposed;
  spec.threads = threads;
  const Product product(spec);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const ProductOperands operands{a.data(), b.data(), c.data(), nullptr,
                                 scratch.data() + (64 - address % 64) % 64};
  double best_s = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    product.run(operands);
    best_s =
        std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * kSize * kSize * kSize / best_s;
}

}  // namespace trireme
