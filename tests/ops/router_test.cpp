// What the case lists cannot say about the router: who wins a tie, who is dropped, what is counted, and how
// it is cut over ranks.
#include "ops/router/router.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "device/cpu/kernel.h"
#include "ops/balance/balance.h"

namespace trireme {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<int32_t>;

struct Routed {
  Ids ids;
  Floats weights, scores, counts;
};

// Width 1 and x = 1 for every token of one sequence but for `scale_of` it: the logits are the weight times
// it.
struct Problem {
  RouterAttrs attrs;
  int64_t batch = 1;
  Floats x;
  Floats weight;
  Floats state = {};  // or none

  OpSig sig() const {
    const auto tokens = static_cast<int64_t>(x.size());
    OpSig sig{"router", pack_attrs(attrs), {}, {}};
    sig.inputs = {{DType::f32, {batch, tokens / batch, 1}}, {DType::f32, {attrs.experts, 1}}};
    sig.inputs.push_back(state.empty() ? absent_type() : TensorType{DType::f32, {2, attrs.experts}});
    sig.outputs = op_def("router").infer(sig.attrs, sig.inputs);
    return sig;
  }
};

Routed route(Problem p) {
  const OpSig sig = p.sig();
  const auto size = [&](size_t i) { return static_cast<size_t>(count(sig.outputs[i].shape)); };
  Routed r{Ids(size(0)), Floats(size(1)), Floats(size(2)), Floats(size(3))};
  std::vector<std::byte> scratch(static_cast<size_t>(op_def("router").scratch_bytes(sig, 2)));
  const std::vector<void*> in = {p.x.data(), p.weight.data(), p.state.empty() ? nullptr : p.state.data()};
  const std::vector<void*> out = {r.ids.data(), r.weights.data(), r.scores.data(), r.counts.data()};
  find_cpu_kernel("router")(sig, {2, detect_isa()})({in, out, scratch.data()});
  return r;
}

TEST(Router, TiesGoToTheLowestIndex) {
  const RouterAttrs attrs{.experts = 6, .top_k = 3, .normalize = 1};
  EXPECT_EQ(route({attrs, 1, {1}, {0, 1, 0, 1, 0, 0}}).ids, (Ids{1, 3, 0}));
  EXPECT_EQ(route({attrs, 1, {0, 0}, {0, 1, 0, 1, 0, 0}}).ids, (Ids{0, 1, 2, 0, 1, 2}));
}

TEST(Router, ABiasChoosesAndDoesNotWeigh) {
  const RouterAttrs attrs{.experts = 4, .top_k = 2, .score = "sigmoid", .normalize = 1, .scale = 2.0};
  const Routed r = route({attrs, 1, {1}, {0, 1, 2, 3}, {1, 0, 0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(r.ids, (Ids{0, 3}));
  const float third = 1 / (1 + std::exp(-3.0f));
  EXPECT_NEAR(r.weights[0], 2 * 0.5f / (0.5f + third), 1e-6);
  EXPECT_NEAR(r.weights[1], 2 * third / (0.5f + third), 1e-6);
}

// Group 1 has the best expert, group 0 the two best together.
TEST(Router, AGroupIsWorthItsTwoBest) {
  const RouterAttrs attrs{
      .experts = 6, .top_k = 2, .score = "sigmoid", .normalize = 1, .groups = 2, .top_groups = 1};
  EXPECT_EQ(route({attrs, 1, {1}, {1, 1.5f, -9, 2, -9, -9}}).ids, (Ids{1, 0}));
}

// Four tokens that all want expert 1, then 0: with room for one each, the first token gets both.
TEST(Router, WhatIsOverCapacityIsDroppedAndCounted) {
  const RouterAttrs attrs{.experts = 4, .top_k = 2, .normalize = 1, .capacity_factor = 0.5};
  const Routed r = route({attrs, 2, {1, 1, 1, 1}, {1, 2, 0, 0}});
  EXPECT_EQ(r.ids, (Ids{1, 0, ~1, ~0, ~1, ~0, ~1, ~0}));
  EXPECT_EQ(Floats(r.weights.begin() + 2, r.weights.end()), Floats(6, 0.0f));
  EXPECT_NEAR(r.weights[0] + r.weights[1], 1.0f, 1e-6);
  EXPECT_EQ(r.counts, (Floats{4, 4, 0, 0}));
}

TEST(Router, CountsPerSequence) {
  const RouterAttrs attrs{.experts = 3, .top_k = 1, .counts_per = "sequence"};
  EXPECT_EQ(route({attrs, 2, {1, 1, -1, 1, -1, -1}, {1, 0, -1}}).counts, (Floats{2, 0, 1, 1, 0, 2}));
}

TEST(Router, NotANumberIsRoutedSomewhere) {
  const RouterAttrs attrs{.experts = 3, .top_k = 2};
  for (const int32_t id : route({attrs, 1, {NAN, 1}, {1, 0, -1}}).ids) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 3);
  }
}

TEST(Router, BackwardCountsTheLoad) {
  const RouterAttrs attrs{.experts = 3, .top_k = 2};
  OpSig sig{"router_grad", pack_attrs(attrs), {}, {}};
  sig.inputs = {{DType::f32, {1, 3, 1}}, {DType::f32, {3, 1}},    {DType::i32, {1, 3, 2}},
                {DType::f32, {1, 3, 3}}, {DType::f32, {1, 3, 2}}, absent_type()};
  sig.outputs = op_def("router_grad").infer(sig.attrs, sig.inputs);
  Floats x(3), weight(3), scores(9, 0.5f), dweights(6), dx(3), dweight(3), dstate{10, 0, 0, 5, 0, 0};
  Ids ids = {0, 1, 0, ~1, ~0, 2};
  std::vector<std::byte> scratch(static_cast<size_t>(op_def("router_grad").scratch_bytes(sig, 1)));
  const std::vector<void*> in = {x.data(),      weight.data(),   ids.data(),
                                 scores.data(), dweights.data(), nullptr};
  const std::vector<void*> out = {dx.data(), dweight.data(), dstate.data()};
  find_cpu_kernel("router_grad")(sig, {1, detect_isa()})({in, out, scratch.data()});
  EXPECT_EQ(dstate, (Floats{13, 2, 1, 6, 1, 0}));
}

TEST(Router, RefusesWhatItCannotChoose) {
  const auto refused = [](const RouterAttrs& attrs) {
    EXPECT_THROW((Problem{attrs, 1, {1}, Floats(static_cast<size_t>(attrs.experts))}.sig()),
                 std::invalid_argument);
  };
  refused({.experts = 4, .top_k = 5});
  refused({.experts = 4, .top_k = 3, .groups = 2, .top_groups = 1});
  refused({.experts = 5, .top_k = 1, .groups = 2, .top_groups = 1});
  refused({.experts = 4, .top_k = 1, .score = "sigmoid", .softmax_after = 1});
  refused({.experts = 4, .top_k = 1, .score = "relu"});
  refused({.experts = 4, .top_k = 1, .counts_per = "step"});
}

// Placement, with x placed as given and the weight whole.
Cut cut(const RouterAttrs& attrs, Placement x) {
  const Op op{"router", pack_attrs(attrs), std::vector<ValueId>(3), std::vector<ValueId>(4)};
  const std::vector<TensorType> types = {
      {DType::f32, {2, 8, 4}}, {DType::f32, {attrs.experts, 4}}, {DType::f32, {2, attrs.experts}}};
  const std::vector<Placement> placed = {x, kReplicate, kReplicate};
  return op_def("router").place({op, types, placed, {false, true, true}, kRows, BlockAxis::tp, 2, 0, "ring"});
}

TEST(Router, CountsOfSlicesArePartial) {
  const RouterAttrs attrs{.experts = 4, .top_k = 2};
  for (const Placement place : {kRows, shard_of(1)}) {
    EXPECT_EQ(cut(attrs, place).inputs, (std::vector{place, kReplicate, kReplicate}));
    EXPECT_EQ(cut(attrs, place).outputs, (std::vector{place, place, place, kPartial}));
  }
  EXPECT_EQ(cut(attrs, kReplicate).outputs, std::vector(4, kReplicate));
  EXPECT_EQ(cut(attrs, kPartial).outputs, (std::vector{kRows, kRows, kRows, kPartial}));
}

TEST(Router, CountsPerSequenceNeedWholeSequencesOrSlicesOfEach) {
  const RouterAttrs attrs{.experts = 4, .top_k = 2, .counts_per = "sequence"};
  EXPECT_EQ(cut(attrs, kRows).inputs[0], kReplicate);
  EXPECT_EQ(cut(attrs, kRows).outputs, std::vector(4, kReplicate));
  EXPECT_EQ(cut(attrs, shard_of(1)).outputs[3], kPartial);
}

TEST(Balance, WantsWholeCounts) {
  const Op op{"balance", pack_attrs(BalanceAttrs{4, 2, 0.01, 16}), std::vector<ValueId>(3),
              std::vector<ValueId>(1)};
  const std::vector<TensorType> types = {
      {DType::f32, {2, 8, 2}}, {DType::f32, {2, 8, 4}}, {DType::f32, {1, 4}}};
  const std::vector<Placement> placed = {kRows, kRows, kPartial};
  const Cut cut =
      op_def("balance").place({op, types, placed, {false, false, false}, kRows, BlockAxis::tp, 2, 0, "ring"});
  EXPECT_EQ(cut.inputs, (std::vector{kRows, kRows, kReplicate}));
  EXPECT_EQ(cut.outputs, std::vector{kRows});
}

}  // namespace
}  // namespace trireme
