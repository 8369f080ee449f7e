// Norms, rotary settings, feed-forward layers, embedding and head.
#include "model/rms_block.h"

#include "ops/layernorm/norm.h"

namespace trireme {

ValueId rms_norm(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name,
                 int64_t width) {
  const ValueId weight = block.param(name + ".weight", {width}, Init::ones);
  return block.op("rmsnorm", pack_attrs(NormAttrs{.eps = spec.norm_eps}), {x, weight}, name);
}

RopeAttrs rotary_attrs(const ModelSpec& spec, int64_t heads, int64_t kv_heads, int64_t head_dim) {
  const RopeScaling& scaling = spec.rope_scaling;
  RopeAttrs attrs;
  attrs.heads = heads;
  attrs.kv_heads = kv_heads;
  attrs.head_dim = head_dim;
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
  return attrs;
}

ValueId gated_layer(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name,
                    int64_t ffn) {
  const ValueId gate_up = block.linear(x, name + ".gate_up", spec.width, 2 * ffn, Init::normal,
                                       {ParamRole::column, {ffn, ffn}, 1});
  const ValueId hidden = block.op("swiglu", {}, {gate_up}, name + ".hidden");
  return block.linear(hidden, name + ".down", ffn, spec.width, Init::residual, {ParamRole::row, {}, 1});
}

namespace {

ValueId dense_layer(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  if (spec.activation == Activation::swiglu) return gated_layer(block, spec, x, "mlp", spec.ffn);
  const ValueId hidden = plain_hidden(block, spec, x);
  return block.linear(hidden, "mlp.down", spec.ffn, spec.width, Init::residual, {ParamRole::row, {}, 1});
}

}  // namespace

ValueId feed_forward(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId middle,
                     LayerKind kind) {
  const ValueId x = rms_norm(block, spec, middle, "mlp_norm", spec.width);
  const ValueId made =
      kind == LayerKind::moe ? experts_layer(block, spec, inputs, x) : dense_layer(block, spec, x);
  return block.op("add", {}, {middle, made}, "y");
}

BlockBuilder rms_embed_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block(std::string(name_of_value(spec.family)) + ".embed", spec);
  block.returns(token_embedding(block, spec, inputs));
  return block;
}

BlockBuilder rms_head_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block(std::string(name_of_value(spec.family)) + ".head", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  output_head(block, spec, inputs, rms_norm(block, spec, x, "final_norm", spec.width));
  return block;
}

}  // namespace trireme
