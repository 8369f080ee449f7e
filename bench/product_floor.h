// The floor of a GPT-2 124M training step (micro-batch of 4 x 1024 tokens): the time that oneDNN needs on
// this machine for the step's matrix products, weights packed, plus causal attention's products at that same
// rate. The engine's own kernels are measured in turn with oneDNN's. Made for bench programs: all inline.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu/isa.h"
#include "device/cpu/weight_product.h"
#include "ops/linear/linear.h"

namespace trireme::bench {

inline constexpr int64_t kTokens = 4096, kLength = 1024, kWidth = 768, kLayers = 12;

struct FloorSpec {
  DType dtype = DType::f32;  // f32 or bf16
  int threads = 1;
  int repeats = 3;  // of each product; the fastest counts
};

// One kind of product, by the fastest of the ways in which oneDNN was asked for it.
struct FloorRow {
  std::string name;
  int64_t count = 0;  // per micro-batch
  int64_t flops = 0;  // of one
  double onednn_s = 1e9, own_s = 1e9;
};

struct Floor {
  std::vector<FloorRow> rows;
  double products_s = 0.0, own_products_s = 0.0;  // of one micro-batch
  double attention_s = 0.0;                       // at oneDNN's rate
  double tokens_per_s = 0.0;                      // of products_s + attention_s
};

// Memory filled with small numbers.
class FloorBuffer {
 public:
  FloorBuffer(int64_t elements, DType dtype)
      : data_(static_cast<std::byte*>(std::aligned_alloc(64, bytes(elements, dtype)))) {
    std::memset(data_.get(), 0x3c, bytes(elements, dtype));
  }
  std::byte* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  static size_t bytes(int64_t elements, DType dtype) {
    return static_cast<size_t>(elements * size_of(dtype) + 63) / 64 * 64;
  }
  std::unique_ptr<std::byte, Free> data_;
};

// Alone, a thread's own time is counted, so that busy neighbours disturb less.
inline double clock_s(int threads) {
  timespec now{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class F>
void keep_fastest(int threads, double& best_s, const F& work) {
  const double begin = clock_s(threads);
  work();
  best_s = std::min(best_s, clock_s(threads) - begin);
}

struct FloorShape {
  const char* name;
  int64_t count, rows, out, in;
};

inline FloorRow named(const FloorShape& shape, const char* part) {
  return {.name = fmt::format("{} {} {}x{}x{}", shape.name, part, shape.rows, shape.out, shape.in),
          .count = shape.count,
          .flops = 2 * shape.rows * shape.out * shape.in};
}

// y = x W^T or dx = dy W.
inline FloorRow measure_weight_product(const FloorSpec& spec, const FloorShape& shape, WeightUse use) {
  const bool forward = use == WeightUse::forward;
  const CpuContext context{spec.threads, detect_isa()};
  const WeightSpec weight{shape.out, shape.in, spec.dtype, use};
  const int64_t k = forward ? shape.in : shape.out, n = forward ? shape.out : shape.in;
  FloorBuffer a(shape.rows * k, spec.dtype), c(shape.rows * n, spec.dtype), w(n * k, spec.dtype);
  FloorBuffer scratch(product_scratch_bytes(k, spec.threads), DType::u8),
      packed(packed_count(n, k, "forward"), spec.dtype);
  FloorBuffer own_packed(packed_count(n, k, "forward"), spec.dtype);
  WeightPacker(weight, context).run(w.data(), own_packed.data());
  const auto plain = forward ? MatrixLayout::transposed : MatrixLayout::row_major;
  const auto make = [&](MatrixLayout layout) {
    return Product({.m = shape.rows,
                    .n = n,
                    .k = k,
                    .in = spec.dtype,
                    .out = spec.dtype,
                    .b = layout,
                    .threads = spec.threads});
  };
  const Product from_plain = make(plain);
  std::optional<Product> from_packed;
  if (products_read_packed(spec.dtype)) {
    from_packed.emplace(make(MatrixLayout::packed));
    Repack({.k = k, .n = n, .dtype = spec.dtype, .from = plain, .threads = spec.threads})
        .run(w.data(), packed.data());
  }
  const WeightProduct own({.weight = weight, .rows = shape.rows, .packed = true, .out = spec.dtype}, context);
  FloorRow row = named(shape, forward ? "forward" : "input_grad");
  for (int i = 0; i < spec.repeats; ++i) {
    keep_fastest(spec.threads, row.onednn_s, [&] {
      from_plain.run({.a = a.data(), .b = w.data(), .c = c.data(), .scratch = scratch.data()});
    });
    if (from_packed)
      keep_fastest(spec.threads, row.onednn_s, [&] {
        from_packed->run({.a = a.data(), .b = packed.data(), .c = c.data(), .scratch = scratch.data()});
      });
    keep_fastest(spec.threads, row.own_s, [&] {
      own.run({.a = a.data(), .b = own_packed.data(), .c = c.data(), .scratch = scratch.data()});
    });
  }
  return row;
}

// dW += dy^T x: all rows at once with x as it is or packed inside, or as the engine cuts it.
inline FloorRow measure_weight_gradient(const FloorSpec& spec, const FloorShape& shape) {
  const CpuContext context{spec.threads, detect_isa()};
  FloorBuffer x(shape.rows * shape.in, spec.dtype), dy(shape.rows * shape.out, spec.dtype),
      dw(shape.out * shape.in, DType::f32);
  FloorBuffer packed(packed_count(shape.in, shape.rows, "forward"), spec.dtype);
  FloorBuffer scratch(product_scratch_bytes(shape.rows, spec.threads) +
                          weight_gradient_scratch_bytes(shape.rows, shape.in, spec.dtype, spec.threads),
                      DType::u8);
  const auto make = [&](MatrixLayout layout) {
    return Product({.m = shape.out,
                    .n = shape.in,
                    .k = shape.rows,
                    .in = spec.dtype,
                    .out = DType::f32,
                    .a = MatrixLayout::transposed,
                    .b = layout,
                    .accumulate = true,
                    .threads = spec.threads});
  };
  const Product from_plain = make(MatrixLayout::row_major);
  std::optional<Product> from_packed;
  if (products_read_packed(spec.dtype)) from_packed.emplace(make(MatrixLayout::packed));
  const Repack repack({.k = shape.rows, .n = shape.in, .dtype = spec.dtype, .threads = spec.threads});
  const WeightGradient own({shape.rows, shape.out, shape.in, spec.dtype}, context);
  FloorRow row = named(shape, "weight_grad");
  for (int i = 0; i < spec.repeats; ++i) {
    keep_fastest(spec.threads, row.onednn_s, [&] {
      from_plain.run({.a = dy.data(), .b = x.data(), .c = dw.data(), .scratch = scratch.data()});
    });
    if (from_packed)
      keep_fastest(spec.threads, row.onednn_s, [&] {
        repack.run(x.data(), packed.data());
        from_packed->run({.a = dy.data(), .b = packed.data(), .c = dw.data(), .scratch = scratch.data()});
      });
    keep_fastest(spec.threads, row.own_s,
                 [&] { own.run(dy.data(), x.data(), reinterpret_cast<float*>(dw.data()), scratch.data()); });
  }
  return row;
}

inline Floor measure_floor(const FloorSpec& spec) {
  // The head goes through the batch in chunks: four of 1024 rows, as the engine's.
  const std::vector<FloorShape> shapes = {{"qkv", kLayers, kTokens, 3 * kWidth, kWidth},
                                          {"proj", kLayers, kTokens, kWidth, kWidth},
                                          {"fc", kLayers, kTokens, 4 * kWidth, kWidth},
                                          {"fc_proj", kLayers, kTokens, kWidth, 4 * kWidth},
                                          {"head", kTokens / 1024, 1024, 50257, kWidth}};
  Floor floor;
  double flops = 0.0;
  for (const FloorShape& shape : shapes) {
    floor.rows.push_back(measure_weight_product(spec, shape, WeightUse::forward));
    floor.rows.push_back(measure_weight_product(spec, shape, WeightUse::input_grad));
    floor.rows.push_back(measure_weight_gradient(spec, shape));
  }
  for (const FloorRow& row : floor.rows) {
    floor.products_s += static_cast<double>(row.count) * row.onednn_s;
    floor.own_products_s += static_cast<double>(row.count) * row.own_s;
    flops += static_cast<double>(row.count * row.flops);
  }
  // q k^T and p v, forward once and backward twice, half the square: 6 T C per token and layer.
  const double attention_flops = 6.0 * kLength * kWidth * kTokens * kLayers;
  floor.attention_s = attention_flops * floor.products_s / flops;
  floor.tokens_per_s = kTokens / (floor.products_s + floor.attention_s);
  return floor;
}

}  // namespace trireme::bench
