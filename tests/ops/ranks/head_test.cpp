// The head with its vocabulary cut over ranks, against the kernel of one rank that has all of it: the loss,
// dx (an addend on each rank) and dweight (each rank's rows), also where the vocabulary does not divide.
#include "ops/head/head.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/harness/tolerance.h"
#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

struct Setting {
  int64_t batch, length, width, vocab;
  double z_loss = 0.0, softcap = 0.0;
};

struct Problem {
  Setting s;
  DType dtype;
  Values x, weight, targets;

  TensorType x_type() const { return {dtype, {s.batch, s.length, s.width}}; }
  TensorType targets_type() const { return {DType::i32, {s.batch, s.length}}; }
  HeadLossAttrs whole() const { return {s.vocab, s.width, s.z_loss, s.softcap, 0, {}}; }
};

Problem make_problem(const Setting& s, DType dtype) {
  Problem p{s, dtype, {}, {}, {}};
  p.x = random_values({}, p.x_type(), "x");
  p.weight = random_values({.scale = 1.0f / std::sqrt(static_cast<float>(s.width))},
                           {dtype, {s.vocab, s.width}}, "weight");
  p.targets = random_values({.kind = InputFill::Kind::ids, .limit = s.vocab, .ignore = true},
                            p.targets_type(), "targets");
  return p;
}

// The loss op as the rule cuts it for a rank; the rank's rows of the weight.
Attrs attrs_for(const Problem& p, int64_t ranks, int64_t rank) {
  const Op op{
      "head_loss", pack_attrs(p.whole()), {ValueId(0), ValueId(1), ValueId(2)}, {ValueId(3), ValueId(4)}};
  const std::vector<TensorType> inputs = {p.x_type(), {p.dtype, {p.s.vocab, p.s.width}}, p.targets_type()};
  const std::vector<Placement> placed = {kRows, shard_of(0), kReplicate};
  const Cut cut = op_def("head_loss")
                      .place({.op = op,
                              .inputs = inputs,
                              .placed = placed,
                              .params = {false, true, false},
                              .home = kRows,
                              .axis = BlockAxis::tp,
                              .ranks = ranks,
                              .rank = rank,
                              .cp_mode = ""});
  EXPECT_EQ(cut.inputs, (std::vector{kReplicate, shard_of(0), kReplicate}));
  EXPECT_EQ(cut.outputs, (std::vector{kReplicate, kReplicate}));
  return cut.attrs;
}

// One rank's head_loss and its gradient, with its rows of the weight; rows behind the vocabulary are NaN-free
// nonsense that must not show.
RankList rank_list(const Problem& p, const Attrs& attrs, bool gradient, ValueId* dx, ValueId* dweight) {
  const auto a = unpack_attrs<HeadLossAttrs>(attrs);
  Values padded = p.weight;
  padded.resize(static_cast<size_t>(a.vocab * a.on.ranks * a.width), 3.0);
  const auto begin = padded.begin() + a.on.rank * a.vocab * a.width;
  OpSig sig{"head_loss", attrs, {p.x_type(), {p.dtype, {a.vocab, a.width}}, p.targets_type()}, {}};
  sig.outputs = op_def("head_loss").infer(attrs, sig.inputs);
  const std::vector<Values> inputs = {p.x, Values(begin, begin + a.vocab * a.width), p.targets};
  if (!gradient) return list_of(sig, inputs);
  const Differentiated made = differentiate(sig, inputs, {}, {false, true, false});
  *dx = made.input_grads[0];
  *dweight = made.input_grads[1];
  return made.list;
}

struct Result {
  Values loss, nll, dx, dweight;  // dx summed over ranks, dweight one after another
};

// Fails where ranks differ in the loss. Without gradient, the loss alone.
Result run_head(const Problem& p, const std::vector<Attrs>& attrs, bool gradient, int threads) {
  std::vector<RankList> lists;
  ValueId dx, dweight;
  for (const Attrs& a : attrs) lists.push_back(rank_list(p, a, gradient, &dx, &dweight));
  run_on_ranks(lists, {.threads = threads, .isa = detect_isa()});
  const auto of = [&](size_t rank, ValueId id) -> const Values& {
    return lists[rank].contents[static_cast<size_t>(id.index)];
  };
  const Op& op = lists[0].ops[0];
  Result result{of(0, op.outputs[0]), of(0, op.outputs[1]), {}, {}};
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    EXPECT_EQ(of(rank, op.outputs[0]), result.loss) << "rank " << rank;
    EXPECT_EQ(of(rank, op.outputs[1]), result.nll) << "rank " << rank;
    if (!gradient) continue;
    result.dx.resize(of(rank, dx).size());
    for (size_t i = 0; i < result.dx.size(); ++i) result.dx[i] += of(rank, dx)[i];
    result.dweight.insert(result.dweight.end(), of(rank, dweight).begin(), of(rank, dweight).end());
  }
  return result;
}

std::vector<Attrs> cut_attrs(const Problem& p, int64_t ranks) {
  std::vector<Attrs> attrs;
  for (int64_t rank = 0; rank < ranks; ++rank) attrs.push_back(attrs_for(p, ranks, rank));
  return attrs;
}

// The tolerances of the reference check, of sums as long as a product, the softmax and the weight's gradient
// together.
void expect_close(const Problem& p, const Result& got, Result want) {
  const int64_t reduction = p.s.width + p.s.vocab + p.s.batch * p.s.length;
  const bool half = p.dtype == DType::bf16;
  const Tolerance f64 = tolerance_of(DType::f64, false, reduction);
  EXPECT_EQ(compare(got.loss, want.loss, f64), "") << "loss";
  EXPECT_EQ(compare(got.nll, want.nll, f64), "") << "nll";
  if (want.dx.empty()) return;
  want.dweight.resize(got.dweight.size(), 0.0);  // of padding: nothing
  const Tolerance gradient = tolerance_of(p.dtype, half, reduction);
  EXPECT_EQ(compare(got.dx, want.dx, gradient), "") << "dx";
  EXPECT_EQ(compare(got.dweight, want.dweight, gradient), "") << "dweight";
  for (size_t i = p.weight.size(); i < got.dweight.size(); ++i) ASSERT_EQ(got.dweight[i], 0.0) << i;
}

class CutHead : public testing::TestWithParam<int64_t> {};

TEST_P(CutHead, IsTheHeadOfOneRank) {
  const std::vector<Setting> settings = {
      {1, 1, 4, 5}, {2, 3, 5, 7, 1e-2, 1.5}, {2, 40, 64, 257, 1e-3}, {3, 33, 33, 1000, 1e-3, 5.0}};
  for (const Setting& s : settings)
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const bool gradient : {false, true}) {
        SCOPED_TRACE(fmt::format("{}x{} vocab {} {}{}", s.batch, s.length, s.vocab, name_of(dtype),
                                 gradient ? " gradient" : ""));
        const Problem p = make_problem(s, dtype);
        const Result want = run_head(p, {pack_attrs(p.whole())}, gradient, 1);
        const Result got = run_head(p, cut_attrs(p, GetParam()), gradient, 1);
        expect_close(p, got, want);
        const Result more = run_head(p, cut_attrs(p, GetParam()), gradient, 2);
        EXPECT_EQ(more.loss, got.loss);
        EXPECT_EQ(more.dx, got.dx);
        EXPECT_EQ(more.dweight, got.dweight);
      }
}

INSTANTIATE_TEST_SUITE_P(Ranks, CutHead, testing::Values(2, 3, 4));

// 600000 logits of f32 make chunks of 32 rows, some of them all ignored.
TEST(CutHeadChunks, GoThroughTheBatchTogether) {
  Problem p = make_problem({1, 100, 8, 600001}, DType::f32);
  for (size_t i = 32; i < 64; ++i) p.targets[i] = kIgnoredTarget;
  const Result want = run_head(p, {pack_attrs(p.whole())}, true, 2);
  expect_close(p, run_head(p, cut_attrs(p, 2), true, 1), want);
}

// What the rule makes of other axes and of a weight that each rank has whole.
TEST(CutHeadPlacing, RowsOfAWholeWeightYieldAddendsOfTheLoss) {
  const Problem p = make_problem({2, 8, 4, 6}, DType::f32);
  const Op op{
      "head_loss", pack_attrs(p.whole()), {ValueId(0), ValueId(1), ValueId(2)}, {ValueId(3), ValueId(4)}};
  const std::vector<TensorType> inputs = {p.x_type(), {p.dtype, {6, 4}}, p.targets_type()};
  const auto place = [&](Placement x, Placement home) {
    const std::vector<Placement> placed = {x, kReplicate, kReplicate};
    return op_def("head_loss")
        .place({.op = op,
                .inputs = inputs,
                .placed = placed,
                .params = {false, true, false},
                .home = home,
                .axis = BlockAxis::cp,
                .ranks = 2,
                .rank = 1,
                .cp_mode = "ring"});
  };
  for (const auto& [x, home] : {std::pair(shard_of(1), shard_of(1)), std::pair(kRows, kRows),
                                std::pair(kPartial, kRows), std::pair(shard_of(2), kRows)}) {
    const Cut cut = place(x, home);
    EXPECT_EQ(cut.inputs, (std::vector{home, kReplicate, home}));
    EXPECT_EQ(cut.outputs, (std::vector{kPartial, home}));
    EXPECT_EQ(cut.attrs, op.attrs);
  }
  EXPECT_EQ(place(kReplicate, kReplicate).outputs, (std::vector{kReplicate, kReplicate}));
}

TEST(CutHeadWire, ThreeNumbersPerRowToEachOtherRank) {
  const Problem p = make_problem({2, 8, 4, 7}, DType::bf16);
  OpSig sig{"head_loss", attrs_for(p, 4, 1), {p.x_type(), {p.dtype, {2, 4}}, p.targets_type()}, {}};
  EXPECT_EQ(op_def("head_loss").wire_bytes(sig), 3 * 16 * 12);
  EXPECT_EQ(unpack_attrs<HeadLossAttrs>(attrs_for(p, 4, 3)).padding, 1);
  EXPECT_EQ(unpack_attrs<HeadLossAttrs>(attrs_for(p, 4, 2)).padding, 0);
}

}  // namespace
}  // namespace trireme
