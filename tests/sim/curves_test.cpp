// Seconds from measured curves: on points, between them, beyond the ends; and which curve an op lies on.
#include "sim/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/attention/context.h"
#include "ops/linear/linear.h"
#include "ops/overlap/overlap.h"
#include "sim/op_size.h"

namespace trireme {
namespace {

using testing::DoubleNear;
using testing::Optional;

OpCurve line(int64_t threads, double s_at_1000, double s_at_100000) {
  return {"add", "f32", threads, {{{1000}, s_at_1000}, {{100000}, s_at_100000}}};
}

// Rates: 1, 2, 4 and 16 FLOP per second of (rows, in, out) with out = 1.
OpCurve grid() {
  return {
      "linear",
      "bf16",
      1,
      {{{10, 10, 1}, 100.0}, {{10, 1000, 1}, 5000.0}, {{1000, 10, 1}, 2500.0}, {{1000, 1000, 1}, 62500.0}}};
}

TEST(Curves, PointsGiveWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(seconds_on(line(1, 1.0, 50.0), {1000}), 1.0);
  EXPECT_DOUBLE_EQ(seconds_on(line(1, 1.0, 50.0), {100000}), 50.0);
  for (const auto& [size, seconds] : grid().points)
    EXPECT_NEAR(seconds_on(grid(), size), seconds, 1e-9 * seconds);
}

TEST(Curves, BetweenPointsRatesFollowAPowerLaw) {
  // Rates 1000 and 2000 bytes/s: at the geometric middle of sizes their geometric mean.
  EXPECT_NEAR(seconds_on(line(1, 1.0, 50.0), {10000}), 10000 / (1000 * std::sqrt(2.0)), 1e-9);
  EXPECT_NEAR(seconds_on(line(1, 1.0, 50.0), {3162}), 3162 / (1000 * std::pow(2.0, 0.25)), 1e-4);
  EXPECT_NEAR(seconds_on(grid(), {100, 100, 1}), 10000 / std::pow(1 * 2 * 4 * 16, 0.25), 1e-6);
  EXPECT_NEAR(seconds_on(grid(), {1000, 100, 1}), 100000 / std::sqrt(4.0 * 16), 1e-6);
}

TEST(Curves, BeyondTheEndsTheRateIsThatOfTheEnd) {
  EXPECT_NEAR(seconds_on(line(1, 1.0, 50.0), {10}), 0.01, 1e-12);
  EXPECT_NEAR(seconds_on(line(1, 1.0, 50.0), {1000000}), 500.0, 1e-9);
  EXPECT_NEAR(seconds_on(grid(), {1000, 1000, 7}), 7 * 62500.0, 1e-6);
}

TEST(Curves, AttentionGrowsWithTheSquareOfPositions) {
  const OpCurve curve{"attention", "f32", 1, {{{8, 1024, 64}, 1.0}}};
  EXPECT_NEAR(seconds_on(curve, {8, 2048, 64}), 4.0, 1e-9);
  EXPECT_NEAR(seconds_on(curve, {16, 1024, 64}), 2.0, 1e-9);
}

TEST(Curves, WithoutAFullGridTheNearestPointCounts) {
  OpCurve curve = grid();
  curve.points.pop_back();
  EXPECT_NEAR(seconds_on(curve, {900, 12, 1}), 900 * 12 / 4.0, 1e-6);
}

TEST(Curves, WhatIsSentTakesALatencyAndThenABandwidth) {
  const CommCurve curve{"all_gather", 2, {{1000, 1e-5}, {1000000, 1e-4}}};
  EXPECT_DOUBLE_EQ(seconds_on(curve, 10), 1e-5);
  EXPECT_NEAR(seconds_on(curve, 31623), std::sqrt(1e-9), 1e-8);
  EXPECT_NEAR(seconds_on(curve, 10000000), 1e-3, 1e-12);
}

Hardware measured() {
  Hardware hardware;
  hardware.ops = {line(1, 8.0, 800.0), line(4, 2.0, 200.0)};
  hardware.comms = {{"all_gather", 2, {{1000, 1.0}}}, {"all_gather", 8, {{1000, 4.0}}}};
  return hardware;
}

OpSig add(int64_t elements) {
  const TensorType x{DType::f32, {elements}};
  return {"add", {}, {x, x}, {x}};
}

TEST(Curves, BetweenNumbersOfThreadsAPowerLaw) {
  const Hardware hardware = measured();
  const OpSig sig = add(25000 / 3);  // 12 bytes each
  EXPECT_THAT(measured_op_s(hardware, sig, 1), Optional(DoubleNear(800.0, 0.1)));
  EXPECT_THAT(measured_op_s(hardware, sig, 2), Optional(DoubleNear(400.0, 0.1)));
  EXPECT_THAT(measured_op_s(hardware, sig, 4), Optional(DoubleNear(200.0, 0.1)));
  EXPECT_EQ(measured_op_s(hardware, sig, 8), std::nullopt);
}

TEST(Curves, WhatWasNotMeasuredIsNotKnown) {
  const Hardware hardware = measured();
  OpSig other = add(1000);
  for (TensorType& type : other.inputs) type.dtype = DType::bf16;
  EXPECT_EQ(measured_op_s(hardware, other, 1), std::nullopt);
  EXPECT_EQ(measured_op_s({}, add(1000), 1), std::nullopt);
  EXPECT_EQ(measured_comm_s(hardware, "all_to_all", 2, 1000), std::nullopt);
  EXPECT_EQ(measured_comm_s(hardware, "all_gather", 16, 1000), std::nullopt);
  EXPECT_THAT(measured_comm_s(hardware, "all_gather", 4, 1000), Optional(DoubleNear(2.0, 1e-9)));
}

TEST(OpSizes, ProductsAreKnownByRowsInAndOut) {
  const OpSig sig{"linear",
                  pack_attrs(LinearAttrs{.in = 64, .out = 192}),
                  {{DType::bf16, {4, 32, 64}}, {DType::bf16, {192, 64}}, absent_type()},
                  {{DType::bf16, {4, 32, 192}}}};
  EXPECT_THAT(size_of_op(sig), testing::ElementsAre(128, 64, 192));
  EXPECT_EQ(curve_of_op(sig), "linear");
  EXPECT_EQ(dtype_of_op(sig), "bf16");
}

TEST(OpSizes, AProductBesideItsCollectiveIsThatOfTheWholeRows) {
  OverlapAttrs product;
  product.on = {.axis = "tp", .ranks = 2, .rank = 0};
  product.in = 64, product.out = 96;
  const OpSig sig{"gather_linear",
                  pack_attrs(GatherLinearAttrs{.product = product, .batch = 2}),
                  {{DType::bf16, {1, 64, 64}}, {DType::bf16, {96, 64}}, absent_type()},
                  {{DType::bf16, {2, 64, 96}}, absent_type()}};
  EXPECT_THAT(size_of_op(sig), testing::ElementsAre(128, 64, 96));
  EXPECT_EQ(curve_of_op(sig), "linear");
}

OpSig attention(int64_t positions, int64_t window) {
  const AttentionAttrs a{.heads = 4, .kv_heads = 2, .head_dim = 64, .window = window};
  return {"attention",
          pack_attrs(a),
          {{DType::bf16, {3, positions, qkv_width(a)}}, absent_type()},
          {{DType::bf16, {3, positions, 256}}, {DType::f32, {3, 4, positions}}}};
}

TEST(OpSizes, AWindowIsAsManySequencesAsGiveItsPairs) {
  EXPECT_THAT(size_of_op(attention(1024, 0)), testing::ElementsAre(12, 1024, 64));
  const std::vector<int64_t> cut = size_of_op(attention(4096, 128));
  EXPECT_EQ(cut[1], 256);
  const auto pairs = static_cast<double>(12 * visible_pairs(4096, 0, 128));
  EXPECT_NEAR(static_cast<double>(cut[0] * visible_pairs(256, 0, 0)), pairs, 0.005 * pairs);
}

TEST(OpSizes, ARankOfTheContextAxisHasItsShareOfThePairs) {
  const OpSig whole = attention(1024, 0);
  ContextAttrs a;
  a.attention = unpack_attrs<AttentionAttrs>(whole.attrs);
  a.at = {.axis = "cp", .ranks = 2, .rank = 1};
  OpSig part = attention(512, 0);
  part.kind = "ring_attention";
  part.attrs = pack_attrs(a);
  EXPECT_THAT(size_of_op(part), testing::ElementsAre(6, 1024, 64));
  EXPECT_EQ(curve_of_op(part), "attention");
}

TEST(OpSizes, TheRestIsKnownByItsBytes) { EXPECT_THAT(size_of_op(add(1000)), testing::ElementsAre(12000)); }

}  // namespace
}  // namespace trireme
