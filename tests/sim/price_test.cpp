// Kernels and collectives against times by hand.
#include "sim/price.h"

#include <gtest/gtest.h>

#include <numeric>

#include "ops/attention/attention.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"
#include "sim/kernels.h"
#include "sim/machine.h"

namespace trireme {
namespace {

OpSig linear(int64_t rows, int64_t in, int64_t out) {
  return {"linear",
          pack_attrs(LinearAttrs{in, out}),
          {{DType::bf16, {rows, in}}, {DType::bf16, {out, in}}, absent_type()},
          {{DType::bf16, {rows, out}}}};
}

std::vector<int32_t> first(int32_t ranks) {
  std::vector<int32_t> list(static_cast<size_t>(ranks));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

TEST(KernelPrice, ArithmeticOrMemoryWhicheverIsLonger) {
  Hardware h = round_hardware();
  const Cluster cluster = cluster_on(h, 8, 1);
  EXPECT_DOUBLE_EQ(kernel_s(cluster, linear(1000, 1000, 1000)), 2e9 / 1e12);
  // 1 row: 2e6 FLOPs are 2 us, 2 MB of weights 20 us.
  EXPECT_NEAR(kernel_s(cluster, linear(1, 1000, 1000)), 2e6 / 1e11, 1e-7);
  h.kernels.launch_s = 5e-6;
  h.kernels.product = 0.5;
  EXPECT_DOUBLE_EQ(kernel_s(cluster, linear(1000, 1000, 1000)), 4e9 / 1e12 + 5e-6);
}

TEST(KernelPrice, AttentionHasFractionsOfItsOwn) {
  Hardware h = round_hardware();
  h.kernels.attention = 0.5;
  h.kernels.attention_grad = 0.25;
  const Cluster cluster = cluster_on(h, 8, 1);
  const TensorType qkv{DType::bf16, {1, 4096, 3 * 1024}}, y{DType::bf16, {1, 4096, 1024}};
  const OpSig sig{"attention",
                  pack_attrs(AttentionAttrs{.heads = 8, .kv_heads = 8, .head_dim = 128}),
                  {qkv, absent_type()},
                  {y, {DType::f32, {1, 8, 4096}}}};
  const double pairs = 4096.0 * 4097 / 2;
  EXPECT_NEAR(kernel_s(cluster, sig), 4 * 1024 * pairs / 0.5e12, 1e-12);
}

TEST(KernelPrice, UnfusedKernelsMoveMoreBytes) {
  Hardware h = round_hardware();
  h.kernels.unfused = 3;
  const Cluster cluster = cluster_on(h, 8, 1);
  const TensorType x{DType::bf16, {1000, 1000}};
  EXPECT_NEAR(kernel_s(cluster, {"add", {}, {x, x}, {x}}), 3 * 6e6 / 1e11, 1e-12);
  EXPECT_DOUBLE_EQ(kernel_s(cluster, linear(1000, 1000, 1000)), 2e9 / 1e12);
}

TEST(KernelPrice, LogitsGoThroughAGpusMemory) {
  Hardware h = round_hardware();
  const TensorType x{DType::bf16, {1000, 1000}}, weight{DType::bf16, {4000, 1000}};
  const OpSig loss{"head_loss",
                   pack_attrs(HeadLossAttrs{.vocab = 4000, .width = 1000}),
                   {x, weight, {DType::i32, {1000}}},
                   {{DType::f64, {2}}}};
  const double product = 8e9 / 1e12, logits = 4e6 * 8 / 1e11;
  EXPECT_NEAR(kernel_s(cluster_on(h, 8, 1), loss), product + logits, 1e-12);
  h.kernels.unfused = 3;
  EXPECT_NEAR(kernel_s(cluster_on(h, 8, 1), loss), product + 3 * logits, 1e-12);
  h.kind = DeviceClass::cpu;
  EXPECT_NEAR(kernel_s(cluster_on(h, 8, 1), loss), product, 1e-12);
}

TEST(TileShare, CountsFillingATile) {
  const KernelModel kernels{.tile_fill = 256};
  EXPECT_DOUBLE_EQ(tile_share(kernels, {128, 256, 768}), 0.75);
}

TEST(TileShare, CountsTheLastWaveAndTheEdges) {
  const KernelModel kernels{.units = 100, .tile_rows = 128, .tile_columns = 256};
  EXPECT_DOUBLE_EQ(tile_share(kernels, {128 * 10, 256 * 10, 1}), 1.0);
  // One tile more asks for a second wave of whole tiles; of quarter tiles 404 fill 500 places.
  EXPECT_NEAR(tile_share(kernels, {128 * 101, 256, 1}), 404.0 / 500 * 0.85, 1e-12);
  // Three quarters of a whole tile; two halves hang over as much; three eighths fit.
  EXPECT_NEAR(tile_share({.tile_rows = 128, .tile_columns = 256}, {128, 192, 1}), 0.75, 1e-12);
}

TEST(WirePrice, BytesOverTheNarrowestLinkAndLatencyPerHop) {
  Hardware h = round_hardware();
  h.inside.latency_s = 1e-6;
  h.between.latency_s = 1e-5;
  const Cluster cluster = cluster_on(h, 8, 4);
  EXPECT_DOUBLE_EQ(wire_time(cluster, "all_gather", 1'000'000, first(8)).seconds, 1e-4 + 3e-6);
  EXPECT_FALSE(wire_time(cluster, "all_gather", 1, first(8)).between);
  EXPECT_EQ(wire_time(cluster, "all_gather", 1'000'000, {3}).seconds, 0);
  // Eight rings leave a node over its eight ways: 8 GB/s, less than the 10 inside.
  EXPECT_DOUBLE_EQ(wire_time(cluster, "all_gather", 8'000'000, first(32)).seconds,
                   1e-3 + 2 * 1e-5 + 3 * 1e-6);
  // One rank of each node: its own way alone.
  const WireTime far = wire_time(cluster, "reduce_scatter", 1'000'000, {0, 8, 16, 24});
  EXPECT_DOUBLE_EQ(far.seconds, 1e-3 + 2 * 1e-5);
  EXPECT_TRUE(far.between);
  EXPECT_DOUBLE_EQ(wire_time(cluster, "send", 1'000'000, {7, 8}).seconds, 1e-3 + 1e-5);
}

TEST(WirePrice, PartsThatGoStraightCrossNodesOneByOne) {
  Hardware h = round_hardware();
  h.collectives = CollectiveWay::direct;
  const Cluster cluster = cluster_on(h, 8, 2);
  // Each rank sends 8 of 15 parts to the other node, over its own way.
  EXPECT_DOUBLE_EQ(wire_time(cluster, "reduce_scatter", 15'000'000, first(16)).seconds, 8e-3);
}

}  // namespace
}  // namespace trireme
