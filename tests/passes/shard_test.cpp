// The shard pass as text: a block for one device in, one rank's block with its collectives out.
#include <gtest/gtest.h>

#include "passes/shard_text.h"

namespace trireme::test {
namespace {

TEST(Shard, OneRankChangesNothing) { EXPECT_EQ(to_text(cut(kMlp, kMlpUses, {})), kMlp); }

TEST(Shard, ColumnThenRow) {
  EXPECT_EQ(to_text(cut(kMlp, kMlpUses, tensor_plan(2, 1, false))), whole_text(R"(
graph mlp
  value x: input f32[2,4,8]
  value up: param f32[6,8] tp=shard(0)
  value up.bias: param f32[6] tp=shard(0)
  value a: local f32[2,4,6] tp=shard(2)
  value h: local f32[2,4,6] tp=shard(2)
  value down: param f32[8,6] tp=shard(1)
  value down.bias: param f32[8]
  value y: local f32[2,4,8]
  value y.addend: local f32[2,4,8] tp=partial
  value y.addend.tp.whole: local f32[2,4,8]
  op a = linear(x, up, up.bias) {in=8, out=6}
  op h = activation(a) {kind="gelu_tanh"}
  op y.addend = linear(h, down, _) {in=6, out=8}
  op y.addend.tp.whole = all_reduce(y.addend) {axis="tp", ranks=2, rank=1}
  op y = add_bias(y.addend.tp.whole, down.bias)
  return y
end
)"));
}

TEST(Shard, ColumnThenRowWithSequence) {
  EXPECT_EQ(to_text(cut(kMlp, kMlpUses, tensor_plan(2, 1, true))), whole_text(R"(
graph mlp
  value x: input f32[1,4,8] tp=rows
  value up: param f32[6,8] tp=shard(0)
  value up.bias: param f32[6] tp=shard(0)
  value a: local f32[2,4,6] tp=shard(2)
  value h: local f32[2,4,6] tp=shard(2)
  value down: param f32[8,6] tp=shard(1)
  value down.bias: param f32[8]
  value y: local f32[1,4,8] tp=rows
  value x.tp.whole: local f32[2,4,8]
  value y.addend: local f32[2,4,8] tp=partial
  value y.addend.tp.rows: local f32[1,4,8] tp=rows
  op x.tp.whole = all_gather(x) {axis="tp", ranks=2, rank=1, from="rows", dim=0, batch=2, row_dims=2}
  op a = linear(x.tp.whole, up, up.bias) {in=8, out=6}
  op h = activation(a) {kind="gelu_tanh"}
  op y.addend = linear(h, down, _) {in=6, out=8}
  op y.addend.tp.rows = reduce_scatter(y.addend) {axis="tp", ranks=2, rank=1, to="rows", dim=0, row_dims=2}
  op y = add_bias(y.addend.tp.rows, down.bias)
  return y
end
)"));
}

TEST(Shard, AttentionByHeads) {
  EXPECT_EQ(to_text(cut(kAttention, kAttentionUses, tensor_plan(2, 0, false))), whole_text(R"(
graph attention
  value x: input f32[1,4,8]
  value gain: param f32[8]
  value n: local f32[1,4,8]
  value r: local f32[1,4]
  value qkv.weight: param f32[8,8] tp=shard(0)
  value qkv: local f32[1,4,8] tp=shard(2)
  value turned: local f32[1,4,8] tp=shard(2)
  value att: local f32[1,4,4] tp=shard(2)
  value lse: local f32[1,2,4] tp=shard(1)
  value out.weight: param f32[8,4] tp=shard(1)
  value out: local f32[1,4,8] tp=partial
  value y: local f32[1,4,8]
  value out.tp.whole: local f32[1,4,8]
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op qkv = linear(n, qkv.weight, _) {in=8, out=8}
  op turned = rope(qkv, _) {heads=2, kv_heads=1, head_dim=2, ..}
  op att, lse = attention(turned, _) {heads=2, kv_heads=1, head_dim=2, window=0, softcap=0.0, scale=0.0}
  op out = linear(att, out.weight, _) {in=4, out=8}
  op out.tp.whole = all_reduce(out) {axis="tp", ranks=2, rank=0}
  op y = add(x, out.tp.whole)
  return y
end
)"));
}

TEST(Shard, AttentionByHeadsWithNormAndResidualOnRows) {
  EXPECT_EQ(to_text(cut(kAttention, kAttentionUses, tensor_plan(2, 1, true))), whole_text(R"(
graph attention
  value x: input f32[1,2,8] tp=rows
  value gain: param f32[8]
  value n: local f32[1,2,8] tp=rows
  value r: local f32[1,2] tp=rows
  value qkv.weight: param f32[8,8] tp=shard(0)
  value qkv: local f32[1,4,8] tp=shard(2)
  value turned: local f32[1,4,8] tp=shard(2)
  value att: local f32[1,4,4] tp=shard(2)
  value lse: local f32[1,2,4] tp=shard(1)
  value out.weight: param f32[8,4] tp=shard(1)
  value out: local f32[1,4,8] tp=partial
  value y: local f32[1,2,8] tp=rows
  value n.tp.whole: local f32[1,4,8]
  value out.tp.rows: local f32[1,2,8] tp=rows
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op n.tp.whole = all_gather(n) {axis="tp", ranks=2, rank=1, from="rows", dim=0, batch=1, row_dims=2}
  op qkv = linear(n.tp.whole, qkv.weight, _) {in=8, out=8}
  op turned = rope(qkv, _) {heads=2, kv_heads=1, head_dim=2, ..}
  op att, lse = attention(turned, _) {heads=2, kv_heads=1, head_dim=2, window=0, softcap=0.0, scale=0.0}
  op out = linear(att, out.weight, _) {in=4, out=8}
  op out.tp.rows = reduce_scatter(out) {axis="tp", ranks=2, rank=1, to="rows", dim=0, row_dims=2}
  op y = add(x, out.tp.rows)
  return y
end
)"));
}

TEST(Shard, AValueThatTwoWantWholeIsGatheredOnce) {
  EXPECT_EQ(to_text(cut(kTwoReaders, kTwoReadersUses, tensor_plan(2, 0, true))), whole_text(R"(
graph readers
  value x: input f32[1,4,8] tp=rows
  value v: param f32[3,8] tp=shard(0)
  value w: param f32[6,8] tp=shard(0)
  value a: local f32[2,4,3] tp=shard(2)
  value b: local f32[2,4,6] tp=shard(2)
  value c: local f32[2,4,3] tp=shard(2)
  value c2: local f32[2,4,3] tp=shard(2)
  value u: param f32[8,3] tp=shard(1)
  value y: local f32[2,4,8] tp=partial
  value x.tp.whole: local f32[2,4,8]
  value y.tp.rows: local f32[1,4,8] tp=rows
  op x.tp.whole = all_gather(x) {axis="tp", ranks=2, rank=0, from="rows", dim=0, batch=2, row_dims=2}
  op a = linear(x.tp.whole, v, _) {in=8, out=3}
  op b = linear(x.tp.whole, w, _) {in=8, out=6}
  op c = swiglu(b)
  op c2 = add(a, c)
  op y = linear(c2, u, _) {in=3, out=8}
  op y.tp.rows = reduce_scatter(y) {axis="tp", ranks=2, rank=0, to="rows", dim=0, row_dims=2}
  return y.tp.rows
end
)"));
}

// 9 rows over 2 ranks: 5 each, the last one of padding.
TEST(Shard, EmbeddingByVocabulary) {
  EXPECT_EQ(to_text(cut(kEmbed, kEmbedUses, tensor_plan(2, 1, false))), whole_text(R"(
graph embed
  value tokens: batch i32[2,4]
  value table: param f32[5,8] tp=shard(0)
  value e: local f32[2,4,8] tp=partial
  value learned: param f32[4,8]
  value positions: batch i32[2,4]
  value x: local f32[2,4,8]
  value e.tp.whole: local f32[2,4,8]
  op e = embedding(tokens, table) {first=5}
  op e.tp.whole = all_reduce(e) {axis="tp", ranks=2, rank=1}
  op x = positions(e.tp.whole, learned, positions)
  return x
end
)"));
}

TEST(Shard, EmbeddingByVocabularyOntoRows) {
  EXPECT_EQ(to_text(cut(kEmbed, kEmbedUses, tensor_plan(2, 1, true))), whole_text(R"(
graph embed
  value tokens: batch i32[2,4]
  value table: param f32[5,8] tp=shard(0)
  value e: local f32[2,4,8] tp=partial
  value learned: param f32[4,8]
  value positions: batch i32[2,4]
  value x: local f32[1,4,8] tp=rows
  value e.tp.rows: local f32[1,4,8] tp=rows
  value positions.tp.rows: local i32[1,4] tp=rows
  op e = embedding(tokens, table) {first=5}
  op e.tp.rows = reduce_scatter(e) {axis="tp", ranks=2, rank=1, to="rows", dim=0, row_dims=2}
  op positions.tp.rows = slice(positions) {axis="tp", ranks=2, rank=1, to="rows", dim=0, row_dims=2}
  op x = positions(e.tp.rows, learned, positions.tp.rows)
  return x
end
)"));
}

TEST(Shard, HeadByVocabulary) {
  EXPECT_EQ(to_text(cut(kHead, kHeadUses, tensor_plan(2, 1, true))), whole_text(R"(
graph head
  value x: input f32[1,4,8] tp=rows
  value gain: param f32[8]
  value n: local f32[1,4,8] tp=rows
  value r: local f32[1,4] tp=rows
  value table: param f32[5,8] tp=shard(0)
  value targets: batch i32[2,4]
  value loss: local f64[2]
  value nll: local f32[2,4]
  value n.tp.whole: local f32[2,4,8]
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op n.tp.whole = all_gather(n) {axis="tp", ranks=2, rank=1, from="rows", dim=0, batch=2, row_dims=2}
  op loss, nll = head_loss(n.tp.whole, table, targets) {vocab=5, width=8, z_loss=0.0, softcap=0.0, padding=1, axis="tp", ranks=2, rank=1, further_weight=0.0}
  return loss
end
)"));
}

// The loss of a context rank is an addend of the whole step's.
TEST(Shard, HeadOverASequence) {
  EXPECT_EQ(to_text(cut(kHead, kHeadUses, context_plan(2, 1, "ring"))), whole_text(R"(
graph head
  value x: input f32[2,2,8] cp=shard(1)
  value gain: param f32[8]
  value n: local f32[2,2,8] cp=shard(1)
  value r: local f32[2,2] cp=shard(1)
  value table: param f32[9,8]
  value targets: batch i32[2,2] cp=shard(1)
  value loss: local f64[2] cp=partial
  value nll: local f32[2,2] cp=shard(1)
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op loss, nll = head_loss(n, table, targets) {vocab=9, width=8, z_loss=0.0, softcap=0.0, padding=0, axis="", ranks=1, rank=0, further_weight=0.0}
  return loss
end
)"));
}

const char* const kContext = R"(graph context
  value qkv: input f32[1,8,16]
  value positions: batch i32[1,8]
  value turned: local f32[1,8,16]
  value doc_start: batch i32[1,8]
  value att: local f32[1,8,8]
  value lse: local f32[1,4,8]
  op turned = rope(qkv, positions) {heads=4, kv_heads=2, head_dim=2, ..}
  op att, lse = attention(turned, doc_start) {heads=4, kv_heads=2, head_dim=2, window=0, softcap=0.0, scale=0.0}
  return att
end
)";

std::string context_text(const char* mode) { return to_text(cut(kContext, {}, context_plan(2, 1, mode))); }

TEST(Shard, RingOverContext) {
  EXPECT_EQ(context_text("ring"), whole_text(R"(
graph context
  value qkv: input f32[1,4,16] cp=shard(1)
  value positions: batch i32[1,4] cp=shard(1)
  value turned: local f32[1,4,16] cp=shard(1)
  value doc_start: batch i32[1,4] cp=shard(1)
  value att: local f32[1,4,8] cp=shard(1)
  value lse: local f32[1,4,4] cp=shard(2)
  op turned = rope(qkv, positions) {heads=4, kv_heads=2, head_dim=2, ..}
  op att, lse = ring_attention(turned, doc_start) {heads=4, kv_heads=2, head_dim=2, window=0, softcap=0.0, scale=0.0, axis="cp", ranks=2, rank=1}
  return att
end
)"));
}

// The other modes differ in the op, and ulysses in where its lse lies.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Shard, OtherModesOverContext) {
  const std::string ring = context_text("ring");
  EXPECT_EQ(context_text("allgather"), replaced(ring, "ring_attention", "gather_attention"));
  EXPECT_EQ(context_text("ulysses"),
            replaced(replaced(ring, "ring_attention", "ulysses_attention"),
                     "lse: local f32[1,4,4] cp=shard(2)", "lse: local f32[1,2,8] cp=shard(1)"));
}

// tp first: its rows are folded once more, and a context rank gathers its own rows only.
TEST(Shard, TensorAndContext) {
  ShardPlan plan = tensor_plan(2, 0, true);
  plan.cp = 2;
  plan.cp_rank = 1;
  std::string text = replaced(kAttention, "rope(qkv, _)", "rope(qkv, positions)");
  text = replaced(text, "  value turned", "  value positions: batch i32[1,4]\n  value turned");
  EXPECT_EQ(to_text(cut(text, kAttentionUses, plan)), whole_text(R"(
graph attention
  value x: input f32[1,1,8] tp=rows cp=shard(1)
  value gain: param f32[8]
  value n: local f32[1,1,8] tp=rows cp=shard(1)
  value r: local f32[1,1] tp=rows cp=shard(1)
  value qkv.weight: param f32[8,8] tp=shard(0)
  value qkv: local f32[1,2,8] tp=shard(2) cp=shard(1)
  value positions: batch i32[1,2] cp=shard(1)
  value turned: local f32[1,2,8] tp=shard(2) cp=shard(1)
  value att: local f32[1,2,4] tp=shard(2) cp=shard(1)
  value lse: local f32[1,2,2] tp=shard(1) cp=shard(2)
  value out.weight: param f32[8,4] tp=shard(1)
  value out: local f32[1,2,8] tp=partial cp=shard(1)
  value y: local f32[1,1,8] tp=rows cp=shard(1)
  value n.tp.whole: local f32[1,2,8] cp=shard(1)
  value out.tp.rows: local f32[1,1,8] tp=rows cp=shard(1)
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op n.tp.whole = all_gather(n) {axis="tp", ranks=2, rank=0, from="rows", dim=0, batch=1, row_dims=2}
  op qkv = linear(n.tp.whole, qkv.weight, _) {in=8, out=8}
  op turned = rope(qkv, positions) {heads=2, kv_heads=1, head_dim=2, ..}
  op att, lse = ring_attention(turned, _) {heads=2, kv_heads=1, head_dim=2, window=0, softcap=0.0, scale=0.0, axis="cp", ranks=2, rank=1}
  op out = linear(att, out.weight, _) {in=4, out=8}
  op out.tp.rows = reduce_scatter(out) {axis="tp", ranks=2, rank=0, to="rows", dim=0, row_dims=2}
  op y = add(x, out.tp.rows)
  return y
end
)"));
}

TEST(Shard, ExpertRanksHaveTokensOfTheirOwn) {
  ShardPlan plan;
  plan.params.ep = 4;
  plan.params.ep_rank = 3;
  EXPECT_EQ(to_text(cut(kMlp, kMlpUses, plan)), kMlp);
}

// --- what the config keeps away ----------------------------------------------------------------------------

TEST(Shard, DiesOfWhatDoesNotDivide) {
  const auto plan = [](int64_t ranks) { return tensor_plan(ranks, 0, true); };
  EXPECT_DEATH(cut(kMlp, kMlpUses, plan(5)), "mlp: 5 ranks do not share 12 in units of 1");
  EXPECT_DEATH(cut(kAttention, kAttentionUses, plan(4)), "attention: 4 ranks do not share 4 in units of 2");
  EXPECT_DEATH(cut(kMlp, {}, plan(2)), "mlp: 0 uses for 4 parameters");
  std::vector<ParamUse> uses = kMlpUses;
  uses[3] = {ParamRole::column, {}, 1};
  EXPECT_DEATH(cut(kMlp, uses, plan(2)), "mlp: linear wants down.bias elsewhere, and parameters stay");
  EXPECT_DEATH(cut(kAttention, kAttentionUses, context_plan(2, 0, "ring")),
               "rope over a cut sequence needs positions");
  EXPECT_DEATH(cut(kContext, {}, context_plan(8, 0, "ring")), "context: .*8");
  EXPECT_DEATH(cut(kContext, {}, context_plan(4, 0, "ulysses")),
               "4 ranks of cp must divide heads = 4 and kv_heads = 2");
}

}  // namespace
}  // namespace trireme::test
