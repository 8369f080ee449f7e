// The Llama family (Touvron et al. 2023; also Qwen3's dense models): pre-RMSNorm, rotary positions, grouped
// query heads, SwiGLU; optionally norms on query and key heads.
#include "model/block_builder.h"
#include "ops/layernorm/norm.h"
#include "ops/qk_norm/qk_norm.h"
#include "ops/rope/rope.h"

namespace trireme {
namespace {

ValueId norm(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name) {
  const ValueId weight = block.param(name + ".weight", {spec.width}, Init::ones);
  return block.op("rmsnorm", pack_attrs(NormAttrs{.eps = spec.norm_eps}), {x, weight}, name);
}

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
  const RopeScaling& scaling = spec.rope_scaling;
  RopeAttrs attrs;
  attrs.heads = spec.heads;
  attrs.kv_heads = spec.kv_heads;
  attrs.head_dim = spec.head_dim;
  attrs.layout = name_of_value(spec.rope_layout);
  attrs.theta = spec.rope_theta;
  attrs.scaling = name_of_value(scaling.kind);
  attrs.factor = scaling.factor;
  attrs.low_freq_factor = scaling.low_freq_factor;
  attrs.high_freq_factor = scaling.high_freq_factor;
  attrs.original_context = scaling.original_context;
  attrs.beta_fast = scaling.beta_fast;
  attrs.beta_slow = scaling.beta_slow;
  attrs.attention_factor = scaling.attention_factor;
  return block.op("rope", pack_attrs(attrs), {qkv, explicit_positions(block, inputs)}, "attn.rotated");
}

ValueId mlp_hidden(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  if (spec.activation != Activation::swiglu) return plain_hidden(block, spec, x);
  const ValueId gate_up = block.linear(x, "mlp.gate_up", spec.width, 2 * spec.ffn, Init::normal,
                                       {ParamRole::column, {spec.ffn, spec.ffn}, 1});
  return block.op("swiglu", {}, {gate_up}, "mlp.hidden");
}

BlockBuilder embed_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("llama.embed", spec);
  block.returns(token_embedding(block, spec, inputs));
  return block;
}

BlockBuilder layer_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("llama.layer", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  ValueId qkv = qkv_projection(block, spec, norm(block, spec, x, "attn_norm"));
  if (spec.qk_norm) qkv = head_norms(block, spec, qkv);
  const ValueId out = causal_attention(block, spec, inputs, rotate(block, spec, inputs, qkv));
  const ValueId middle = block.op("add", {}, {x, out}, "middle");
  const ValueId hidden = mlp_hidden(block, spec, norm(block, spec, middle, "mlp_norm"));
  const ValueId down =
      block.linear(hidden, "mlp.down", spec.ffn, spec.width, Init::residual, {ParamRole::row, {}, 1});
  block.returns(block.op("add", {}, {middle, down}, "y"));
  return block;
}

BlockBuilder head_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("llama.head", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  output_head(block, spec, inputs, norm(block, spec, x, "final_norm"));
  return block;
}

}  // namespace

BlockKinds llama_blocks(const ModelSpec& spec, const ModelInputs& inputs) {
  return {embed_block(spec, inputs), layer_block(spec, inputs), head_block(spec, inputs)};
}

}  // namespace trireme
