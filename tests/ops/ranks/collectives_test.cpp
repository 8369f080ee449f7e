// The collectives over rank threads: what they make is what the placements mean, to the bit, and their
// gradients agree with finite differences across the ranks. Contents are whole numbers, which every dtype
// holds and sums exactly; the moves are linear, so differences are exact as well.
#include "ops/collectives/collectives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/ranks/placed_values.h"
#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

// One move of a value of this shape.
struct Move {
  std::string op;
  Shape whole;
  Placement from, to;
};

std::vector<Move> moves() {
  std::vector<Move> all = {{"all_reduce", {2, 6, 5}, kPartial, kReplicate}};
  const std::vector<std::pair<Shape, Placement>> slices = {
      {{2, 6, 5}, kRows},        {{4, 3}, kRows},           {{12, 3}, shard_of(0)},
      {{2, 12, 3}, shard_of(1)}, {{3, 2, 24}, shard_of(2)}, {{2, 3, 12, 2}, shard_of(2)}};
  for (const auto& [shape, slice] : slices) {
    all.push_back({"all_gather", shape, slice, kReplicate});
    all.push_back({"slice", shape, kReplicate, slice});
    all.push_back({"reduce_scatter", shape, kPartial, slice});
  }
  return all;
}

Attrs attrs_of(const Move& move, const AxisAttrs& on) {
  if (move.op == "all_reduce") return pack_attrs(on);
  const Placement slice = move.op == "all_gather" ? move.from : move.to;
  const std::string cut = slice == kRows ? "rows" : "shard";
  if (move.op == "all_gather") return pack_attrs(GatherAttrs{on, cut, slice.dim, move.whole[0], 2});
  return pack_attrs(SliceAttrs{on, cut, slice.dim, 2});
}

OpSig sig_of(const Move& move, DType dtype, int64_t ranks, int64_t rank) {
  OpSig sig{
      move.op, attrs_of(move, {"tp", ranks, rank}), {{dtype, part_shape(move.whole, move.from, ranks)}}, {}};
  sig.outputs = op_def(move.op).infer(sig.attrs, sig.inputs);
  return sig;
}

Values whole_numbers(const Shape& shape, std::string_view name) {
  return random_values({.kind = InputFill::Kind::ids, .limit = 9}, {DType::i32, shape}, name);
}

// y of every rank.
std::vector<Values> run_move(const Move& move, DType dtype, const std::vector<Values>& x, int threads) {
  std::vector<RankList> lists;
  const auto ranks = static_cast<int64_t>(x.size());
  for (int64_t r = 0; r < ranks; ++r)
    lists.push_back(list_of(sig_of(move, dtype, ranks, r), {x[static_cast<size_t>(r)]}));
  run_on_ranks(lists, {.threads = threads, .isa = detect_isa()});
  std::vector<Values> y;
  for (const RankList& list : lists) y.push_back(list.contents[1]);
  return y;
}

bool has_ranks(const Move& move, int64_t ranks) {
  const Placement slice =
      move.from.kind == Placement::Kind::shard || move.from == kRows ? move.from : move.to;
  const int64_t cut = slice == kRows                         ? move.whole[0] * move.whole[1]
                      : slice.kind == Placement::Kind::shard ? move.whole[static_cast<size_t>(slice.dim)]
                                                             : ranks;
  return cut % ranks == 0;
}

class Collectives : public testing::TestWithParam<int64_t> {};

TEST_P(Collectives, MakeWhatThePlacementsMean) {
  const int64_t ranks = GetParam();
  for (const Move& move : moves())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
      if (!has_ranks(move, ranks) || (dtype == DType::i32 && (move.from == kPartial))) continue;
      SCOPED_TRACE(fmt::format("{} {} {}", move.op, to_string(move.whole), name_of(dtype)));
      const Values whole = whole_numbers(move.whole, "x");
      const auto x = parts_of(whole, move.whole, move.from, ranks);
      const auto want = parts_of(whole, move.whole, move.to, ranks);
      for (const int threads : {1, 2}) EXPECT_EQ(run_move(move, dtype, x, threads), want);
      EXPECT_EQ(sig_of(move, dtype, ranks, 0).outputs[0].shape, part_shape(move.whole, move.to, ranks));
    }
}

// sum w * y, of the whole y.
double weighted(const Move& move, const std::vector<Values>& x, const Values& w) {
  const Values y = whole_of(run_move(move, DType::f32, x, 1), move.whole, move.to);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * w[i];
  return sum;
}

// d weighted / d x: of one rank's element, or of a whole value's on all ranks at once.
double difference(const Move& move, std::vector<Values> x, const Values& w, size_t rank, size_t element) {
  const auto shifted = [&](double step) {
    for (size_t r = 0; r < x.size(); ++r)
      if (r == rank || move.from == kReplicate) x[r][element] += step;
    return weighted(move, x, w);
  };
  const double up = shifted(1);
  return (up - shifted(-2)) / 2;
}

std::vector<Values> gradients(const Move& move, const std::vector<Values>& x, const std::vector<Values>& dy) {
  std::vector<RankList> lists;
  ValueId grad;
  for (size_t r = 0; r < x.size(); ++r) {
    const OpSig sig = sig_of(move, DType::f32, static_cast<int64_t>(x.size()), static_cast<int64_t>(r));
    const Differentiated made = differentiate(sig, {x[r]}, {dy[r]}, {false});
    lists.push_back(made.list);
    grad = made.input_grads[0];
  }
  run_on_ranks(lists, {.threads = 1, .isa = detect_isa()});
  std::vector<Values> dx;
  for (const RankList& list : lists) dx.push_back(list.contents[static_cast<size_t>(grad.index)]);
  return dx;
}

TEST_P(Collectives, GradientsAreFiniteDifferencesAcrossRanks) {
  const int64_t ranks = GetParam();
  for (const Move& move : moves()) {
    if (!has_ranks(move, ranks)) continue;
    SCOPED_TRACE(fmt::format("{} {}", move.op, to_string(move.whole)));
    const auto x = parts_of(whole_numbers(move.whole, "x"), move.whole, move.from, ranks);
    const Values w = whole_numbers(move.whole, "w");
    const auto dx = gradients(move, x, parts_of(w, move.whole, move.to, ranks));
    for (size_t r = 0; r < x.size(); ++r) {
      ASSERT_EQ(dx[r].size(), x[r].size());
      for (size_t i = r; i < x[r].size(); i += 7)
        ASSERT_EQ(dx[r][i], difference(move, x, w, r, i)) << "rank " << r << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3, 4));

TEST(CollectivesWire, BytesThatARankSends) {
  const auto bytes = [](const Move& move, int64_t ranks) {
    const OpSig sig = sig_of(move, DType::f32, ranks, 1);
    return op_def(move.op).wire_bytes(sig);
  };
  const Shape whole = {2, 6, 8};  // 384 bytes
  EXPECT_EQ(bytes({"all_gather", whole, kRows, kReplicate}, 4), 3 * 96);
  EXPECT_EQ(bytes({"reduce_scatter", whole, kPartial, shard_of(2)}, 4), 3 * 96);
  EXPECT_EQ(bytes({"all_reduce", whole, kPartial, kReplicate}, 4), 2 * 3 * 96);
  EXPECT_EQ(op_def("slice").wire_bytes, nullptr);
}

TEST(CollectivesShapes, WhatDoesNotDivideIsRefused) {
  const auto infer = [](const char* op, const Attrs& attrs, TensorType x) {
    return op_def(op).infer(attrs, std::span(&x, 1));
  };
  const AxisAttrs on{"tp", 2, 0};
  const TensorType x{DType::f32, {1, 5, 4}}, ids{DType::i32, {1, 4}};
  EXPECT_THROW(infer("slice", pack_attrs(SliceAttrs{on, "rows", 0, 2}), x), std::invalid_argument);
  EXPECT_THROW(infer("slice", pack_attrs(SliceAttrs{on, "shard", 1, 2}), x), std::invalid_argument);
  EXPECT_THROW(infer("slice", pack_attrs(SliceAttrs{on, "shard", 3, 2}), x), std::invalid_argument);
  EXPECT_THROW(infer("slice", pack_attrs(SliceAttrs{on, "columns", 0, 2}), x), std::invalid_argument);
  EXPECT_THROW(infer("all_gather", pack_attrs(GatherAttrs{on, "rows", 0, 3, 2}), x), std::invalid_argument);
  EXPECT_THROW(infer("reduce_scatter", pack_attrs(SliceAttrs{on, "rows", 0, 2}), ids), std::invalid_argument);
  EXPECT_THROW(infer("all_reduce", pack_attrs(on), ids), std::invalid_argument);
  EXPECT_THROW(infer("all_reduce", pack_attrs(AxisAttrs{"tp", 2, 2}), x), std::invalid_argument);
}

}  // namespace
}  // namespace trireme
