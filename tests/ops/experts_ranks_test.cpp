// Experts cut over ranks, which are threads here, against one rank that has all experts and all tokens: even
// and lopsided choices, more rows than there is room for, ranks without rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "comm/axis_comm.h"
#include "comm/rank_threads.h"
#include "device/cpu/kernel.h"
#include "ops/experts/experts.h"
#include "ops/harness/guarded_buffer.h"
#include "ops/harness/values.h"

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
  std::string fault;
};

// An operand in memory; empty where it is absent.
GuardedBuffer memory_of(const TensorType& type, const Values& values) {
  GuardedBuffer buffer(bytes_of(type));
  if (!values.empty()) encode(values, type.dtype, buffer.data());
  return buffer;
}

struct Call {
  OpSig sig;
  std::vector<GuardedBuffer> inputs, outputs;

  Call(std::string kind, const ExpertsAttrs& attrs) : sig{std::move(kind), pack_attrs(attrs), {}, {}} {}
  void add(const TensorType& type, const Values& values) {
    sig.inputs.push_back(type);
    inputs.push_back(memory_of(type, values));
  }
  Values output(size_t i) const {
    return decode(outputs[i].data(), sig.outputs[i].dtype, count(sig.outputs[i].shape));
  }

  // Accumulators start at 0. Returns "" or what was written outside.
  std::string run(const AxisComm* comm) {
    const OpDef& def = op_def(sig.kind);
    sig.outputs = def.infer(sig.attrs, sig.inputs);
    std::vector<void*> in, out;
    for (const TensorType& type : sig.outputs) outputs.emplace_back(bytes_of(type));
    for (GuardedBuffer& b : inputs) in.push_back(b.size() > 0 ? b.data() : nullptr);
    for (size_t i = 0; i < outputs.size(); ++i) {
      out.push_back(outputs[i].data());
      if (def.outputs[i].use != OperandDef::Use::plain)
        std::fill_n(outputs[i].data(), outputs[i].size(), std::byte{0});
    }
    GuardedBuffer scratch(def.scratch_bytes(sig, 1));
    find_cpu_kernel(sig.kind)(sig, {1, detect_isa()})({in, out, scratch.data(), comm});
    for (const auto* list : {&inputs, &outputs})
      for (const GuardedBuffer& b : *list)
        if (!b.intact()) return sig.kind + " wrote outside an operand";
    return scratch.intact() ? "" : sig.kind + " wrote outside its scratch";
  }
};

TensorType packed_type(const TensorType& weight, const char* use) {
  const Attrs attrs{{{"use", AttrValue(std::string(use))}}};
  return op_def("pack").infer(attrs, std::span(&weight, 1))[0];
}

// Adds a weight packed for `use`.
void add_packed(Call& call, const TensorType& weight, const Values& values, const char* use) {
  const TensorType packed = packed_type(weight, use);
  const OpSig sig{"pack", {{{"use", AttrValue(std::string(use))}}}, {weight}, {packed}};
  GuardedBuffer plain = memory_of(weight, values);
  call.sig.inputs.push_back(packed);
  call.inputs.emplace_back(bytes_of(packed));
  void *in = plain.data(), *out = call.inputs.back().data();
  find_cpu_kernel("pack")(sig, {1, detect_isa()})({std::span(&in, 1), std::span(&out, 1), nullptr});
}

Outputs run_layer(const Layer& l, const Inputs& in, const AxisAttrs& axis, const AxisComm* comm) {
  const ExpertsAttrs attrs{.experts = l.experts,
                           .top_k = l.top_k,
                           .width = l.width,
                           .ffn = l.ffn,
                           .receive_factor = l.receive_factor,
                           .axis = axis};
  const int64_t tokens = l.tokens * l.ranks / axis.ranks, owned = l.experts / axis.ranks;
  const TensorType x{l.dtype, {1, tokens, l.width}}, ids{DType::i32, {1, tokens, l.top_k}},
      weights{DType::f32, {1, tokens, l.top_k}}, gate_up{l.dtype, {owned, 2 * l.ffn, l.width}},
      down{l.dtype, {owned, l.width, l.ffn}};
  Call forward("experts", attrs), backward("experts_grad", attrs);
  forward.add(x, in.x);
  forward.add(ids, in.ids);
  forward.add(weights, in.weights);
  add_packed(forward, gate_up, in.gate_up, "forward");
  add_packed(forward, down, in.down, "forward");
  Outputs out;
  out.fault = forward.run(comm);
  if (!out.fault.empty()) return out;
  backward.add(x, in.dy);
  backward.add(ids, in.ids);
  backward.add(weights, in.weights);
  backward.add(forward.sig.outputs[1], forward.output(1));
  backward.add(forward.sig.outputs[2], forward.output(2));
  add_packed(backward, gate_up, in.gate_up, "input_grad");
  add_packed(backward, down, in.down, "input_grad");
  backward.add(x, in.x);
  backward.add(forward.sig.outputs[3], forward.output(3));
  add_packed(backward, gate_up, in.gate_up, "forward");
  out.fault = backward.run(comm);
  out.y = forward.output(0);
  out.plan = forward.output(3);
  out.dx = backward.output(0);
  out.dweights = backward.output(1);
  out.dgate_up = backward.output(2);
  out.ddown = backward.output(3);
  return out;
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
  const Outputs want = run_layer(l, all, {}, nullptr);
  ASSERT_EQ(want.fault, "");
  LocalWorld world({.ranks = static_cast<int>(l.ranks), .timeout_s = 60});
  std::vector<Outputs> got(static_cast<size_t>(l.ranks));
  const auto errors = run_ranks(world, static_cast<int>(l.ranks), [&](int rank) {
    const auto members = all_ranks(static_cast<int>(l.ranks));
    const auto communicator = world.communicator(members, rank, 0);
    const AxisComm comm{communicator.get(), nullptr};
    got[static_cast<size_t>(rank)] = run_layer(l, part_of(all, rank, l.ranks), {"ep", l.ranks, rank}, &comm);
  });
  for (int64_t r = 0; r < l.ranks; ++r) {
    SCOPED_TRACE(fmt::format("rank {}", r));
    const Outputs& mine = got[static_cast<size_t>(r)];
    ASSERT_EQ(errors[static_cast<size_t>(r)], "");
    ASSERT_EQ(mine.fault, "");
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
  const Inputs all = inputs_of(l);
  LocalWorld world({.ranks = 2, .timeout_s = 60});
  std::vector<Outputs> got(2);
  run_ranks(world, 2, [&](int rank) {
    const auto communicator = world.communicator(all_ranks(2), rank, 0);
    const AxisComm comm{communicator.get(), nullptr};
    got[static_cast<size_t>(rank)] = run_layer(l, part_of(all, rank, 2), {"ep", 2, rank}, &comm);
  });
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
