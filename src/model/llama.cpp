// The Llama family (Touvron et al. 2023; also Qwen3's models, and Mixtral with its experts): pre-RMSNorm,
// rotary positions, grouped query heads, SwiGLU; optionally norms on query and key heads.
#include "model/rms_block.h"
#include "ops/qk_norm/qk_norm.h"

namespace trireme {
namespace {

ValueId head_norms(BlockBuilder& block, const ModelSpec& spec, ValueId qkv) {
  QkNormAttrs attrs;
  attrs.heads = spec.heads;
  attrs.kv_heads = spec.kv_heads;
  attrs.head_dim = spec.head_dim;
  attrs.eps = spec.norm_eps;
  const ValueId q = block.param("attn.q_norm.weight", {spec.head_dim}, Init::ones);
  const ValueId k = block.param("attn.k_norm.weight", {spec.head_dim}, Init::ones);
  return block.op("qk_norm", pack_attrs(attrs), {qkv, q, k}, "attn.normed");
}

ValueId rotate(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId qkv) {
  const RopeAttrs attrs = rotary_attrs(spec, spec.heads, spec.kv_heads, spec.head_dim);
  return block.op("rope", pack_attrs(attrs), {qkv, explicit_positions(block, inputs)}, "attn.rotated");
}

BlockBuilder layer_block(const ModelSpec& spec, const ModelInputs& inputs, LayerKind kind) {
  BlockBuilder block(kind == LayerKind::moe ? "llama.moe_layer" : "llama.layer", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  ValueId qkv = qkv_projection(block, spec, rms_norm(block, spec, x, "attn_norm", spec.width));
  if (spec.qk_norm) qkv = head_norms(block, spec, qkv);
  const ValueId out = causal_attention(block, spec, inputs, rotate(block, spec, inputs, qkv));
  const ValueId middle = block.op("add", {}, {x, out}, "middle");
  block.returns(feed_forward(block, spec, inputs, middle, kind));
  return block;
}

}  // namespace

FamilyBlocks llama_blocks() { return {rms_embed_block, layer_block, rms_head_block}; }

}  // namespace trireme
