// Experts cut over ranks, which are threads here, against one rank that has all experts and all tokens: even
// and lopsided choices, more rows than there is room for, ranks without rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/experts/experts.h"
#include "ops/linear/linear.h"
#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

// What the ranks together have.
struct Layer {
  int64_t ranks = 2, tokens = 6;  // tokens of each rank
  int64_t experts = 4, top_k = 2, width = 40, ffn = 24;
  double receive_factor = 0;
  DType dtype = DType::f32;
  Values ids = {};  // [ranks * tokens * top_k]

  int64_t choices() const { return ranks * tokens * top_k; }
};

Values slice(const Values& all, int64_t part, int64_t parts) {
  const auto size = static_cast<int64_t>(all.size()) / parts;
  return {all.begin() + part * size, all.begin() + (part + 1) * size};
}

// Everything that forward and backward read.
struct Inputs {
  Values x, ids, weights, gate_up, down, dy;
};

Inputs inputs_of(const Layer& l) {
  const auto random = [&](const char* name, int64_t n, float scale) {
    return random_values({.scale = scale}, {l.dtype, {n}}, name);
  };
  Values weights = random_values({.kind = InputFill::Kind::positive, .scale = 0.5f},
                                 {DType::f32, {l.choices()}}, "ranks/weights");
  return {random("ranks/x", l.ranks * l.tokens * l.width, 1.0f),
          l.ids,
          std::move(weights),
          random("ranks/gate_up", l.experts * 2 * l.ffn * l.width, 0.2f),
          random("ranks/down", l.experts * l.width * l.ffn, 0.2f),
          random("ranks/dy", l.ranks * l.tokens * l.width, 1.0f)};
}

// Rank r of n: its tokens and its experts.
Inputs part_of(const Inputs& all, int64_t rank, int64_t ranks) {
  return {slice(all.x, rank, ranks),       slice(all.ids, rank, ranks),  slice(all.weights, rank, ranks),
          slice(all.gate_up, rank, ranks), slice(all.down, rank, ranks), slice(all.dy, rank, ranks)};
}

struct Outputs {
  Values y, dx, dweights, dgate_up, ddown, plan;
};

// A layer forward and backward on one rank, as a list, and where its outputs are.
struct LayerList {
  RankList list;
  ValueId y, dx, dweights, dgate_up, ddown, plan;

  Outputs outputs() const {
    return {contents_of(list, y),        contents_of(list, dx),    contents_of(list, dweights),
            contents_of(list, dgate_up), contents_of(list, ddown), contents_of(list, plan)};
  }
};

LayerList list_layer(const Layer& l, const Inputs& in, const AxisAttrs& axis) {
  const Attrs attrs = pack_attrs(ExpertsAttrs{.experts = l.experts,
                                              .top_k = l.top_k,
                                              .width = l.width,
                                              .ffn = l.ffn,
                                              .receive_factor = l.receive_factor,
                                              .axis = axis});
  const int64_t tokens = l.tokens * l.ranks / axis.ranks, owned = l.experts / axis.ranks;
  ListWriter w;
  const ValueId x = w.given({l.dtype, {1, tokens, l.width}}, in.x),
                ids = w.given({DType::i32, {1, tokens, l.top_k}}, in.ids),
                weights = w.given({DType::f32, {1, tokens, l.top_k}}, in.weights),
                gate_up = w.given({l.dtype, {owned, 2 * l.ffn, l.width}}, in.gate_up),
                down = w.given({l.dtype, {owned, l.width, l.ffn}}, in.down),
                dy = w.given({l.dtype, {1, tokens, l.width}}, in.dy);
  const auto packed = [&](ValueId weight, const char* use) {
    return w.emit("pack", pack_attrs(PackAttrs{use}), {weight})[0];
  };
  const ValueId gate_up_forward = packed(gate_up, "forward");
  const auto made = w.emit("experts", attrs, {x, ids, weights, gate_up_forward, packed(down, "forward")});
  const auto grads = w.emit(
      "experts_grad", attrs,
      {dy, ids, weights, made[ExpertsOut::rows], made[ExpertsOut::hidden], packed(gate_up, "input_grad"),
       packed(down, "input_grad"), x, made[ExpertsOut::plan], gate_up_forward});
  return {.list = w.list,
          .y = made[ExpertsOut::y],
          .dx = grads[ExpertsGradOut::dx],
          .dweights = grads[ExpertsGradOut::dweights],
          .dgate_up = grads[ExpertsGradOut::dgate_up],
          .ddown = grads[ExpertsGradOut::ddown],
          .plan = made[ExpertsOut::plan]};
}

// By rank.
std::vector<Outputs> run_layer(const Layer& l, const Inputs& all, int64_t ranks) {
  std::vector<LayerList> layers;
  std::vector<RankList> lists;
  for (int64_t r = 0; r < ranks; ++r) {
    const AxisAttrs axis = ranks > 1 ? AxisAttrs{"ep", ranks, r} : AxisAttrs{};
    layers.push_back(list_layer(l, part_of(all, r, ranks), axis));
    lists.push_back(layers.back().list);
  }
  run_on_ranks(lists, {1, detect_isa()});
  std::vector<Outputs> made;
  for (size_t r = 0; r < lists.size(); ++r) {
    layers[r].list = std::move(lists[r]);
    made.push_back(layers[r].outputs());
  }
  return made;
}

// The largest difference, relative to the largest element.
double distance(const Values& a, const Values& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 1e-30, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::isnan(a[i]) ? INFINITY : std::abs(a[i] - b[i]));
  }
  return apart / largest;
}

// Rows that arrive at each rank, as the plan says.
Values arrivals(const Layer& l, const Values& plan) {
  Values rows(static_cast<size_t>(l.ranks));
  for (size_t i = 0; i < plan.size(); ++i)
    rows[i % static_cast<size_t>(l.experts) * static_cast<size_t>(l.ranks) /
         static_cast<size_t>(l.experts)] += plan[i];
  return rows;
}

// Blocks of other sizes sum in other orders: f32 sums of at most some hundred terms, and in bf16 also another
// rounding here and there, of up to three in a row.
void check(const Layer& l) {
  const Inputs all = inputs_of(l);
  const Outputs want = run_layer(l, all, 1)[0];
  const std::vector<Outputs> got = run_layer(l, all, l.ranks);
  for (int64_t r = 0; r < l.ranks; ++r) {
    SCOPED_TRACE(fmt::format("rank {}", r));
    const Outputs& mine = got[static_cast<size_t>(r)];
    EXPECT_EQ(mine.plan, got[0].plan);
    const double near = l.dtype == DType::f32 ? 2e-6 : 3.0 / 256;
    EXPECT_LE(distance(mine.y, slice(want.y, r, l.ranks)), near);
    EXPECT_LE(distance(mine.dx, slice(want.dx, r, l.ranks)), near);
    EXPECT_LE(distance(mine.dweights, slice(want.dweights, r, l.ranks)), near);
    EXPECT_LE(distance(mine.dgate_up, slice(want.dgate_up, r, l.ranks)), near);
    EXPECT_LE(distance(mine.ddown, slice(want.ddown, r, l.ranks)), near);
  }
}

Values random_ids(const Layer& l, bool dropped = false) {
  return random_values({.kind = InputFill::Kind::ids, .limit = l.experts, .ignore = dropped},
                       {DType::i32, {l.choices()}}, "ranks/ids");
}

class ExpertsOnRanks : public testing::TestWithParam<DType> {};

TEST_P(ExpertsOnRanks, GiveWhatOneRankGives) {
  for (const int64_t ranks : {2, 4})
    for (const double factor : {0.0, 1.0, 0.3}) {
      SCOPED_TRACE(fmt::format("{} ranks, receive_factor {}", ranks, factor));
      Layer l{.ranks = ranks, .tokens = 37, .experts = 8, .receive_factor = factor, .dtype = GetParam()};
      l.ids = random_ids(l);
      check(l);
    }
}

TEST_P(ExpertsOnRanks, AllTokensToOneExpertGoInRounds) {
  for (const int64_t expert : {0, 3}) {
    Layer l{.tokens = 33, .top_k = 1, .receive_factor = 1.0, .dtype = GetParam()};
    l.ids.assign(static_cast<size_t>(l.choices()), static_cast<double>(expert));
    check(l);
  }
}

TEST_P(ExpertsOnRanks, DroppedChoicesDoNotTravel) {
  Layer l{.tokens = 21, .receive_factor = 0.5, .dtype = GetParam()};
  l.ids = random_ids(l, true);
  check(l);
  l.ids.assign(l.ids.size(), -2.0);
  check(l);
}

TEST_P(ExpertsOnRanks, OneTokenEach) {
  for (const double factor : {0.0, 1.0}) {
    Layer l{.ranks = 4, .tokens = 1, .receive_factor = factor, .dtype = GetParam()};
    l.ids = {0, 1, 0, 1, 3, 0, 1, 0};
    check(l);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ExpertsOnRanks, testing::Values(DType::f32, DType::bf16),
                         [](const auto& name) { return std::string(name_of(name.param)); });

TEST(ExpertsPlan, SaysWhatArrives) {
  Layer l{.tokens = 3, .top_k = 1, .receive_factor = 1.0};
  l.ids = {0, 0, 2, 1, 1, 1};
  const std::vector<Outputs> got = run_layer(l, inputs_of(l), 2);
  EXPECT_EQ(got[0].plan, (Values{2, 0, 1, 0, 0, 3, 0, 0}));
  EXPECT_EQ(arrivals(l, got[1].plan), (Values{5, 1}));  // more than the 3 that there is room for
}

TEST(ExpertsRoom, IsStatic) {
  const TensorType x{DType::f32, {1, 10, 4}};
  const auto room = [&](int64_t ranks, double factor) {
    return experts_sizes({.experts = 8, .top_k = 3, .receive_factor = factor, .axis = {"ep", ranks, 0}}, x)
        .room;
  };
  EXPECT_EQ(room(1, 1.5), 30);
  EXPECT_EQ(room(4, 0), 120);
  EXPECT_EQ(room(4, 1.5), 45);
  EXPECT_EQ(room(2, 1.01), 31);
  EXPECT_EQ(room(2, 5), 60);
}

TEST(ExpertsBlocks, AreOfSimilarSizeAndFit) {
  for (int64_t rows = 0; rows < 10'000; ++rows) {
    const int64_t blocks = experts_blocks(rows);
    EXPECT_EQ(blocks == 0, rows == 0);
    EXPECT_LE(rows, blocks * kExpertRows);
  }
  EXPECT_EQ(experts_blocks(1100), 1);  // a second pass over the weights would cost more than longer rows
}

// Placement.

Cut cut(BlockAxis axis, const std::vector<Placement>& placed, int64_t ranks = 2) {
  const ExpertsAttrs attrs{.experts = 8, .top_k = 2, .width = 4, .ffn = 6, .axis = {}};
  const Op op{"experts", pack_attrs(attrs), std::vector<ValueId>(5), std::vector<ValueId>(4)};
  const std::vector<TensorType> types = {{DType::f32, {2, 8, 4}},
                                         {DType::i32, {2, 8, 2}},
                                         {DType::f32, {2, 8, 2}},
                                         {DType::f32, {8, 12, 4}},
                                         {DType::f32, {8, 4, 6}}};
  return op_def("experts").place(
      {op, types, placed, {false, false, false, true, true}, kRows, axis, ranks, 1, ""});
}

TEST(ExpertsPlace, RanksOfEpOwnExperts) {
  const Cut c = cut(BlockAxis::ep, {kReplicate, kReplicate, kReplicate, shard_of(0), shard_of(0)});
  EXPECT_EQ(c.inputs, (std::vector{kReplicate, kReplicate, kReplicate, shard_of(0), shard_of(0)}));
  EXPECT_EQ(c.outputs, std::vector(4, kReplicate));
  const auto attrs = unpack_attrs<ExpertsAttrs>(c.attrs);
  EXPECT_EQ(attrs.axis.axis, "ep");
  EXPECT_EQ(attrs.axis.ranks, 2);
  EXPECT_EQ(attrs.axis.rank, 1);
  EXPECT_EQ(attrs.experts, 8);
  EXPECT_THROW(cut(BlockAxis::ep, std::vector(5, kReplicate), 3), std::invalid_argument);
}

TEST(ExpertsPlace, RanksOfTpHaveAPartOfEachExpertOrSomeTokens) {
  const Cut inside = cut(BlockAxis::tp, {kRows, kRows, kRows, shard_of(1), shard_of(2)});
  EXPECT_EQ(inside.inputs, (std::vector{kReplicate, kReplicate, kReplicate, shard_of(1), shard_of(2)}));
  EXPECT_EQ(inside.outputs[0], kPartial);
  EXPECT_EQ(unpack_attrs<ExpertsAttrs>(inside.attrs).ffn, 3);
  const Cut rows = cut(BlockAxis::tp, {kRows, kRows, kRows, kReplicate, kReplicate});
  EXPECT_EQ(rows.inputs, (std::vector{kRows, kRows, kRows, kReplicate, kReplicate}));
  EXPECT_EQ(rows.outputs[0], kRows);
  EXPECT_EQ(cut(BlockAxis::cp, std::vector{shard_of(1), shard_of(1), shard_of(1), kReplicate, kReplicate})
                .outputs[0],
            shard_of(1));
}

// Even choices: of N k = 32 rows half stay; x and y are 4 f32.
TEST(ExpertsWire, IsThatOfEvenChoices) {
  const auto bytes = [](const char* kind) {
    OpSig sig{kind,
              pack_attrs(ExpertsAttrs{.experts = 8, .top_k = 2, .width = 4, .ffn = 6, .axis = {"ep", 2, 0}}),
              {{DType::f32, {2, 8, 4}}},
              {}};
    return op_def(kind).wire_bytes(sig);
  };
  EXPECT_EQ(bytes("experts"), 16 * (16 + 4 + 16) + 8 * 4);
  EXPECT_EQ(bytes("experts_grad"), 16 * (16 + 4 + 16 + 4));
}

}  // namespace
}  // namespace trireme
