// What the definitions of attention over the context axis say: who has which rows, how attention is cut, what
// it costs, what is refused.
#include <gtest/gtest.h>

#include <numeric>

#include "ops/attention/context_rows.h"
#include "ops/ranks/context_ranks.h"

namespace trireme {
namespace {

TEST(ContextRows, EveryRowOnce) {
  for (const ContextRows layout : {ContextRows::zigzag, ContextRows::contiguous})
    for (const int64_t ranks : {1, 2, 3, 4}) {
      std::vector<int> seen(48, 0);
      for (int64_t rank = 0; rank < ranks; ++rank) {
        int64_t count = 0;
        for (const RowRange& range : context_rows(48, ranks, rank, layout)) {
          for (int64_t i = 0; i < range.count; ++i) ++seen[static_cast<size_t>(range.begin + i)];
          count += range.count;
        }
        EXPECT_EQ(count, 48 / ranks);
      }
      EXPECT_EQ(seen, std::vector<int>(48, 1)) << ranks;
    }
}

TEST(ContextRows, ZigzagPairsTheFirstChunkWithTheLast) {
  EXPECT_EQ(context_rows(32, 4, 1, ContextRows::zigzag), (std::vector<RowRange>{{4, 4}, {24, 4}}));
  EXPECT_EQ(context_rows(32, 4, 1, ContextRows::contiguous), (std::vector<RowRange>{{8, 8}}));
  EXPECT_EQ(context_rows(7, 1, 0, ContextRows::zigzag), (std::vector<RowRange>{{0, 7}}));
  EXPECT_THROW(context_rows(36, 4, 0, ContextRows::zigzag), std::invalid_argument);
  EXPECT_NO_THROW(context_rows(36, 4, 0, ContextRows::contiguous));
}

constexpr AttentionAttrs kAttrs{.heads = 8, .kv_heads = 4, .head_dim = 16, .window = 70, .softcap = 2.0};

TEST(ContextAttentionCost, RanksDoTheWorkOfOneTogetherAndEvenly) {
  for (const bool grad : {false, true})
    for (const char* mode : {"ring", "gather", "ulysses"}) {
      SCOPED_TRACE(mode);
      AttentionAttrs attrs = kAttrs;
      const auto flops = [&](int64_t ranks, int64_t rank) {
        const OpSig sig = context_sig({mode, ranks, attrs, DType::bf16, 2, 256}, grad, true, rank);
        return op_def(sig.kind).cost(sig).flops;
      };
      int64_t sum = 0;
      for (int64_t rank = 0; rank < 4; ++rank) sum += flops(4, rank);
      EXPECT_EQ(sum, flops(1, 0));
      attrs.window = 0;
      EXPECT_EQ(flops(4, 0), flops(4, 3));
      EXPECT_EQ(4 * flops(4, 1), flops(1, 0));
    }
}

TEST(ContextAttentionCost, BytesOnTheWire) {
  const auto bytes = [](const char* mode, int64_t ranks, bool grad) {
    const OpSig sig = context_sig({mode, ranks, kAttrs, DType::bf16, 2, 256}, grad, true, 0);
    return op_def(sig.kind).wire_bytes(sig);
  };
  const int64_t kv = 2 * 64 * 2 * 4 * 16, row = 2 * 64 * (8 + 2 * 4) * 16, y = 2 * 64 * 8 * 16;  // elements
  for (const char* mode : {"ring", "gather"}) {
    EXPECT_EQ(bytes(mode, 1, false), 0);
    EXPECT_EQ(bytes(mode, 1, true), 0);
    EXPECT_EQ(bytes(mode, 4, false), 3 * kv * 2);
  }
  EXPECT_EQ(bytes("ring", 4, true), 3 * kv * 2 + 4 * kv * 4);
  EXPECT_EQ(bytes("gather", 4, true), 3 * kv * 2 + 3 * kv * 4);
  const int64_t documents = 3 * 2 * 64 * 4;
  EXPECT_EQ(bytes("ulysses", 1, true), 0);
  EXPECT_EQ(bytes("ulysses", 4, false), 3 * (row + y) / 4 * 2 + documents);
  EXPECT_EQ(bytes("ulysses", 4, true), 3 * 2 * (row + y) / 4 * 2 + documents);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ContextAttention, RefusesWhatDoesNotDivide) {
  EXPECT_NE(refusal([] {
              context_sig({"ulysses", 8, kAttrs, DType::f32, 1, 64}, false, false, 0);
            }).find("ranks = 8 must divide heads = 8 and kv_heads = 4"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              context_sig({"ring", 2, kAttrs, DType::f32, 1, 66}, false, false, 0);
            }).find("two chunks of one size"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              context_sig({"ring", 2, kAttrs, DType::f32, 1, 64}, false, false, 2);
            }).find("rank = 2 of ranks = 2"),
            std::string::npos);
}

// attention of [2,64,qkv] with documents, asked about one axis.
Cut cut_of(BlockAxis axis, Placement qkv, int64_t ranks, std::string_view mode) {
  Op op{"attention", pack_attrs(kAttrs), {ValueId(0), ValueId(1)}, {ValueId(2), ValueId(3)}};
  const int64_t T = qkv == shard_of(1) ? 64 / ranks : 64;
  const std::vector<TensorType> inputs = {{DType::f32, {2, T, qkv_width(kAttrs)}}, {DType::i32, {2, T}}};
  const std::vector<Placement> placed = {qkv, qkv == shard_of(1) ? qkv : kReplicate};
  return op_def("attention")
      .place({.op = op,
              .inputs = inputs,
              .placed = placed,
              .params = {false, false},
              .axis = axis,
              .ranks = ranks,
              .rank = 1,
              .cp_mode = mode});
}

TEST(AttentionPlacing, ByHeadsOnTensorRanks) {
  const Cut cut = cut_of(BlockAxis::tp, shard_of(2), 2, "ring");
  EXPECT_EQ(cut.kind, "attention");
  EXPECT_EQ(cut.inputs, (std::vector{shard_of(2), kReplicate}));
  EXPECT_EQ(cut.outputs, (std::vector{shard_of(2), shard_of(1)}));
  const auto attrs = unpack_attrs<AttentionAttrs>(cut.attrs);
  EXPECT_EQ(attrs.heads, 4);
  EXPECT_EQ(attrs.kv_heads, 2);
  EXPECT_EQ(attrs.window, 70);
  EXPECT_NE(refusal([] { cut_of(BlockAxis::tp, shard_of(2), 8, "ring"); }).find("kv_heads = 4"),
            std::string::npos);
}

TEST(AttentionPlacing, WholeWhereNothingOrRowsAreCut) {
  for (const BlockAxis axis : {BlockAxis::tp, BlockAxis::cp, BlockAxis::ep})
    for (const Placement& placed : {kReplicate, kRows, kPartial}) {
      const Cut cut = cut_of(axis, placed, 2, "ring");
      EXPECT_EQ(cut.kind, "attention");
      EXPECT_EQ(cut.inputs, (std::vector{kReplicate, kReplicate}));
      EXPECT_EQ(cut.outputs, (std::vector{kReplicate, kReplicate}));
    }
}

TEST(AttentionPlacing, ByRowsOnContextRanks) {
  for (const auto& [mode, kind, lse] : {std::tuple("ring", "ring_attention", shard_of(2)),
                                        std::tuple("allgather", "gather_attention", shard_of(2)),
                                        std::tuple("ulysses", "ulysses_attention", shard_of(1))}) {
    const Cut cut = cut_of(BlockAxis::cp, shard_of(1), 4, mode);
    EXPECT_EQ(cut.kind, kind);
    EXPECT_EQ(cut.inputs, (std::vector{shard_of(1), shard_of(1)}));
    EXPECT_EQ(cut.outputs, (std::vector{shard_of(1), lse}));
    const auto attrs = unpack_attrs<ContextAttrs>(cut.attrs);
    EXPECT_EQ(attrs.attention.heads, 8);
    EXPECT_EQ(attrs.at.axis, "cp");
    EXPECT_EQ(attrs.at.ranks, 4);
    EXPECT_EQ(attrs.at.rank, 1);
    // The local shapes are those that the placements say.
    const std::vector<TensorType> local = {{DType::f32, {2, 16, qkv_width(kAttrs)}}, {DType::i32, {2, 16}}};
    const std::vector<TensorType> made = op_def(cut.kind).infer(cut.attrs, local);
    EXPECT_EQ(made[0].shape, (Shape{2, 16, 128}));
    EXPECT_EQ(made[1].shape, (lse == shard_of(1) ? Shape{2, 2, 64} : Shape{2, 8, 16}));
  }
  EXPECT_NE(refusal([] { cut_of(BlockAxis::cp, shard_of(1), 8, "ulysses"); }).find("kv_heads = 4"),
            std::string::npos);
  EXPECT_NE(refusal([] { cut_of(BlockAxis::cp, shard_of(1), 3, "ring"); }).find("63 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace trireme
