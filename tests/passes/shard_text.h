// Blocks written for one device, as text, and the shard pass on them.
#pragma once
#include <string>
#include <vector>

#include "ir/text.h"
#include "passes/shard.h"
#include "passes/verify.h"

namespace trireme::test {

inline ShardPlan tensor_plan(int64_t tp, int64_t rank, bool sequence) {
  ShardPlan plan;
  plan.params.tp = tp;
  plan.params.tp_rank = rank;
  plan.sequence = sequence;
  return plan;
}

inline ShardPlan context_plan(int64_t cp, int64_t rank, const char* mode) {
  ShardPlan plan;
  plan.cp = cp;
  plan.cp_rank = rank;
  plan.cp_mode = mode;
  return plan;
}

// Replaces `..` by the attributes of a rope that no cut changes.
inline std::string spelled_out(std::string text) {
  constexpr std::string_view kTurns =
      "layout=\"half\", theta=10000.0, scaling=\"none\", factor=1.0, low_freq_factor=1.0, "
      "high_freq_factor=4.0, original_context=0, beta_fast=32.0, beta_slow=1.0, attention_factor=1.0, "
      "inverse=0";
  const size_t at = text.find("..}");
  return at == std::string::npos ? text : text.replace(at, 2, kTurns);
}

inline Graph cut(const std::string& text, const std::vector<ParamUse>& uses, const ShardPlan& plan) {
  Graph graph = parse_graph(spelled_out(text));
  shard(graph, uses, plan);
  verify(graph, "shard");
  return graph;
}

// The text after its first line, which is empty.
inline std::string whole_text(const std::string& text) { return spelled_out(text.substr(1)); }

inline constexpr const char* kMlp = R"(graph mlp
  value x: input f32[2,4,8]
  value up: param f32[12,8]
  value up.bias: param f32[12]
  value a: local f32[2,4,12]
  value h: local f32[2,4,12]
  value down: param f32[8,12]
  value down.bias: param f32[8]
  value y: local f32[2,4,8]
  op a = linear(x, up, up.bias) {in=8, out=12}
  op h = activation(a) {kind="gelu_tanh"}
  op y = linear(h, down, down.bias) {in=12, out=8}
  return y
end
)";
inline const std::vector<ParamUse> kMlpUses = {
    {ParamRole::column, {}, 1}, {ParamRole::column, {}, 1}, {ParamRole::row, {}, 1}, {}};

inline constexpr const char* kAttention = R"(graph attention
  value x: input f32[1,4,8]
  value gain: param f32[8]
  value n: local f32[1,4,8]
  value r: local f32[1,4]
  value qkv.weight: param f32[16,8]
  value qkv: local f32[1,4,16]
  value turned: local f32[1,4,16]
  value att: local f32[1,4,8]
  value lse: local f32[1,4,4]
  value out.weight: param f32[8,8]
  value out: local f32[1,4,8]
  value y: local f32[1,4,8]
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op qkv = linear(n, qkv.weight, _) {in=8, out=16}
  op turned = rope(qkv, _) {heads=4, kv_heads=2, head_dim=2, ..}
  op att, lse = attention(turned, _) {heads=4, kv_heads=2, head_dim=2, window=0, softcap=0.0, scale=0.0}
  op out = linear(att, out.weight, _) {in=8, out=8}
  op y = add(x, out)
  return y
end
)";
inline const std::vector<ParamUse> kAttentionUses = {
    {}, {ParamRole::column, {8, 4, 4}, 2}, {ParamRole::row, {}, 2}};

inline constexpr const char* kEmbed = R"(graph embed
  value tokens: batch i32[2,4]
  value table: param f32[9,8]
  value e: local f32[2,4,8]
  value learned: param f32[4,8]
  value positions: batch i32[2,4]
  value x: local f32[2,4,8]
  op e = embedding(tokens, table) {first=0}
  op x = positions(e, learned, positions)
  return x
end
)";
inline const std::vector<ParamUse> kEmbedUses = {{ParamRole::vocabulary, {}, 1}, {}};

inline constexpr const char* kHead = R"(graph head
  value x: input f32[2,4,8]
  value gain: param f32[8]
  value n: local f32[2,4,8]
  value r: local f32[2,4]
  value table: param f32[9,8]
  value targets: batch i32[2,4]
  value loss: local f64[2]
  value nll: local f32[2,4]
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op loss, nll = head_loss(n, table, targets) {vocab=9, width=8, z_loss=0.0, softcap=0.0, padding=0, axis="", ranks=1, rank=0, further_weight=0.0}
  return loss
end
)";
inline const std::vector<ParamUse> kHeadUses = {{}, {ParamRole::vocabulary, {}, 1}};

inline constexpr const char* kTwoReaders = R"(graph readers
  value x: input f32[2,4,8]
  value v: param f32[6,8]
  value w: param f32[12,8]
  value a: local f32[2,4,6]
  value b: local f32[2,4,12]
  value c: local f32[2,4,6]
  value c2: local f32[2,4,6]
  value u: param f32[8,6]
  value y: local f32[2,4,8]
  op a = linear(x, v, _) {in=8, out=6}
  op b = linear(x, w, _) {in=8, out=12}
  op c = swiglu(b)
  op c2 = add(a, c)
  op y = linear(c2, u, _) {in=6, out=8}
  return y
end
)";
inline const std::vector<ParamUse> kTwoReadersUses = {
    {ParamRole::column, {}, 1}, {ParamRole::column, {6, 6}, 1}, {ParamRole::row, {}, 1}};

}  // namespace trireme::test
