// The DeepSeek-V3 family (DeepSeek-AI 2024): a llama whose attention makes keys and values from a small
// latent vector (DeepSeek-V2, section 2.1), mostly with experts.
#include "model/rms_block.h"
#include "ops/mla/mla.h"

namespace trireme {
namespace {

// Equation numbers are those of DeepSeek-V3, section 2.1.1.

// [B,T,H*(nope+rope)], eq. 6-9
ValueId queries(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  const int64_t out = spec.heads * spec.head_dim, rank = spec.mla.q_rank;
  const ParamUse by_heads{ParamRole::column, {}, spec.head_dim};
  if (rank == 0) return block.linear(x, "attn.q", spec.width, out, Init::normal, by_heads);
  const ValueId latent = block.linear(x, "attn.q_down", spec.width, rank, Init::normal, {});
  return block.linear(rms_norm(block, spec, latent, "attn.q_norm", rank), "attn.q_up", rank, out,
                      Init::normal, by_heads);
}

// [B,T,H*(nope+v)], eq. 1, 2 and 5
ValueId keys_and_values(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  const int64_t rank = spec.mla.kv_rank, dim = spec.mla.nope_dim + spec.mla.v_dim;
  const ValueId latent = block.linear(x, "attn.kv_down", spec.width, rank, Init::normal, {});
  return block.linear(rms_norm(block, spec, latent, "attn.kv_norm", rank), "attn.kv_up", rank,
                      spec.heads * dim, Init::normal, {ParamRole::column, {}, dim});
}

ValueId latent_attention(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x) {
  const MlaSpec& mla = spec.mla;
  const ValueId q = queries(block, spec, x), kv = keys_and_values(block, spec, x);
  const ValueId k_rope =
      block.linear(x, "attn.k_rope", spec.width, mla.rope_dim, Init::normal, {});  // of all heads, eq. 3
  const MlaQkvAttrs attrs{
      .nope_dim = mla.nope_dim, .v_dim = mla.v_dim, .rope = rotary_attrs(spec, spec.heads, 1, mla.rope_dim)};
  const ValueId qkv =
      block.op("mla_qkv", pack_attrs(attrs), {q, kv, k_rope, explicit_positions(block, inputs)}, "attn.qkv");
  ValueId heads = attended_heads(block, spec, inputs, qkv, mla.score_scale);
  if (mla.v_dim != spec.head_dim) {
    const MlaValuesAttrs values{.heads = spec.heads, .head_dim = spec.head_dim, .v_dim = mla.v_dim};
    heads = block.op("mla_values", pack_attrs(values), {heads}, "attn.values");
  }
  return block.linear(heads, "attn.out", spec.heads * mla.v_dim, spec.width, Init::residual,
                      {ParamRole::row, {}, mla.v_dim});
}

BlockBuilder layer_block(const ModelSpec& spec, const ModelInputs& inputs, LayerKind kind) {
  BlockBuilder block(kind == LayerKind::moe ? "deepseek.moe_layer" : "deepseek.layer", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  const ValueId out =
      latent_attention(block, spec, inputs, rms_norm(block, spec, x, "attn_norm", spec.width));
  const ValueId middle = block.op("add", {}, {x, out}, "middle");
  block.returns(feed_forward(block, spec, inputs, middle, kind));
  return block;
}

}  // namespace

FamilyBlocks deepseek_blocks() { return {rms_embed_block, layer_block, rms_head_block}; }

}  // namespace trireme
