// Latent attention's ops cut by heads: each rank's heads are the whole's, in values and in gradients, and the
// ranks' gradients of the shared key add up to the whole's.
#include "ops/mla/mla.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

constexpr int64_t kBatch = 2, kLength = 5, kHeads = 4, kNope = 6, kRope = 4, kV = 3, kDim = kNope + kRope;

TensorType wide(int64_t width) { return {DType::f32, {kBatch, kLength, width}}; }

Attrs attrs_of(int64_t heads) {
  MlaQkvAttrs attrs;
  attrs.nope_dim = kNope;
  attrs.v_dim = kV;
  attrs.rope.heads = heads;
  attrs.rope.kv_heads = 1;
  attrs.rope.head_dim = kRope;
  return pack_attrs(attrs);
}

// Columns [begin, end) of rows of `width`.
Values columns(const Values& x, int64_t width, int64_t begin, int64_t end) {
  Values part;
  for (int64_t row = 0; row < kBatch * kLength; ++row)
    part.insert(part.end(), x.begin() + row * width + begin, x.begin() + row * width + end);
  return part;
}

// Of [q|k|v], some heads of each.
Values heads_of_qkv(const Values& qkv, int64_t first, int64_t heads) {
  Values part;
  for (int64_t row = 0; row < kBatch * kLength; ++row)
    for (int64_t third = 0; third < 3; ++third) {
      const auto from = qkv.begin() + ((row * 3 + third) * kHeads + first) * kDim;
      part.insert(part.end(), from, from + heads * kDim);
    }
  return part;
}

struct Result {
  Values qkv, dq, dkv, dk_rope;
};

Result run(const Attrs& attrs, int64_t heads, const Values& q, const Values& kv, const Values& k_rope,
           const Values& dqkv) {
  OpSig sig{"mla_qkv",
            attrs,
            {wide(heads * kDim), wide(heads * (kNope + kV)), wide(kRope), absent_type()},
            {wide(3 * heads * kDim)}};
  const Differentiated made = differentiate(sig, {q, kv, k_rope, {}}, {dqkv}, {false, false, false, false});
  std::vector<RankList> lists = {made.list};
  run_on_ranks(lists, {.threads = 2, .isa = detect_isa()});
  const auto contents = [&](ValueId id) { return lists[0].contents[static_cast<size_t>(id.index)]; };
  return {contents(lists[0].ops[0].outputs[0]), contents(made.input_grads[0]), contents(made.input_grads[1]),
          contents(made.input_grads[2])};
}

Cut cut_for(int64_t heads, int64_t ranks, const Placement& placed) {
  const Op op{"mla_qkv", attrs_of(heads), {ValueId(0), ValueId(1), ValueId(2), ValueId()}, {ValueId(3)}};
  const std::vector<TensorType> inputs = {wide(heads * kDim), wide(heads * (kNope + kV)), wide(kRope),
                                          absent_type()};
  const std::vector<Placement> placements = {placed, placed, kReplicate, kReplicate};
  return op_def("mla_qkv").place({.op = op,
                                  .inputs = inputs,
                                  .placed = placements,
                                  .params = {false, false, false, false},
                                  .home = kRows,
                                  .axis = BlockAxis::tp,
                                  .ranks = ranks,
                                  .rank = 0,
                                  .cp_mode = ""});
}

TEST(MlaQkv, CutByHeadsIsTheWholesHeads) {
  const Values q = random_values({}, wide(kHeads * kDim), "q");
  const Values kv = random_values({}, wide(kHeads * (kNope + kV)), "kv");
  const Values k_rope = random_values({}, wide(kRope), "k_rope");
  const Values dqkv = random_values({}, wide(3 * kHeads * kDim), "dqkv");
  const Result whole = run(attrs_of(kHeads), kHeads, q, kv, k_rope, dqkv);
  constexpr int64_t kRanks = 2, kLocal = kHeads / kRanks, kKeyValue = kNope + kV;
  const Cut cut = cut_for(kHeads, kRanks, shard_of(2));
  EXPECT_EQ(cut.outputs, std::vector{shard_of(2)});
  EXPECT_EQ(cut.inputs[2], kReplicate);
  Values dk_rope(whole.dk_rope.size());
  for (int64_t r = 0; r < kRanks; ++r) {
    const int64_t first = r * kLocal, last = first + kLocal;
    const Result part = run(cut.attrs, kLocal, columns(q, kHeads * kDim, first * kDim, last * kDim),
                            columns(kv, kHeads * kKeyValue, first * kKeyValue, last * kKeyValue), k_rope,
                            heads_of_qkv(dqkv, first, kLocal));
    EXPECT_EQ(part.qkv, heads_of_qkv(whole.qkv, first, kLocal));
    EXPECT_EQ(part.dq, columns(whole.dq, kHeads * kDim, first * kDim, last * kDim));
    EXPECT_EQ(part.dkv, columns(whole.dkv, kHeads * kKeyValue, first * kKeyValue, last * kKeyValue));
    for (size_t i = 0; i < dk_rope.size(); ++i) dk_rope[i] += part.dk_rope[i];
  }
  for (size_t i = 0; i < dk_rope.size(); ++i) EXPECT_NEAR(dk_rope[i], whole.dk_rope[i], 1e-5);
}

TEST(MlaQkv, RowsStayRowsAndHeadsMustDivide) {
  const Cut cut = cut_for(kHeads, 2, kRows);
  EXPECT_EQ(cut.outputs, std::vector{kRows});
  EXPECT_EQ(cut.inputs, (std::vector{kRows, kRows, kRows, kRows}));
  EXPECT_THROW(cut_for(3, 2, shard_of(2)), std::invalid_argument);
}

}  // namespace
}  // namespace trireme
