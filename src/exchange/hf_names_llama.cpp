// Llama, Qwen3, Mixtral and Qwen3-MoE: the same but for norms of heads and for what the experts are called.
#include "exchange/hf_names.h"

namespace trireme {
namespace {

// Transformers turns dim d with d + D/2 there. Queries and keys that are made for another pairing are the
// same after their rows are put into another order, head by head, and with them the norms of heads.
void name_attention(MapBuilder& map, const ModelSpec& spec, const std::string& ours,
                    const std::string& theirs) {
  PairOrder order;
  if (spec.rope_layout != RopeLayout::half)
    order = {.period = spec.head_dim, .first = 0, .dims = spec.head_dim, .ours = spec.rope_layout};
  const int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  for (const char* kind : {".weight", ".bias"}) {
    const std::string qkv = ours + "qkv" + kind;
    if (!map.has(qkv)) continue;
    map.rows(qkv, {0, q}, theirs + "q_proj" + kind, order);
    map.rows(qkv, {q, kv}, theirs + "k_proj" + kind, order);
    map.rows(qkv, {q + kv, kv}, theirs + "v_proj" + kind);
    map.whole(ours + "out" + kind, theirs + "o_proj" + kind);
  }
  if (!spec.qk_norm) return;
  for (const std::string norm : {"q_norm.weight", "k_norm.weight"})
    map.rows(ours + norm, {0, spec.head_dim}, theirs + norm, order);
}

void name_experts(MapBuilder& map, HfType type, const std::string& ours, const std::string& theirs) {
  if (type == HfType::mixtral) {
    map.whole(ours + "router.weight", theirs + "block_sparse_moe.gate.weight");
    name_hf_experts(map, ours + "experts.", theirs + "block_sparse_moe.experts.",
                    {"w1.weight", "w3.weight", "w2.weight"});
    return;
  }
  map.whole(ours + "router.weight", theirs + "mlp.gate.weight");
  name_hf_experts(map, ours + "experts.", theirs + "mlp.experts.",
                  {"gate_proj.weight", "up_proj.weight", "down_proj.weight"});
}

}  // namespace

void name_llama(MapBuilder& map, const ModelSpec& spec, HfType type) {
  name_hf_ends(map, spec);
  for (int64_t n = 0; n < spec.layers; ++n) {
    const std::string ours = "layers." + std::to_string(n) + ".",
                      theirs = "model.layers." + std::to_string(n) + ".";
    map.whole(ours + "attn_norm.weight", theirs + "input_layernorm.weight");
    map.whole(ours + "mlp_norm.weight", theirs + "post_attention_layernorm.weight");
    name_attention(map, spec, ours + "attn.", theirs + "self_attn.");
    if (layer_kind(spec, n) == LayerKind::moe)
      name_experts(map, type, ours + "moe.", theirs);
    else
      name_hf_gated(map, ours + "mlp.", theirs + "mlp.");
  }
}

}  // namespace trireme
