// The GPT-2 family (Radford et al. 2019): pre-LayerNorm, learned positions, biases, a plain MLP.
#include "model/block_builder.h"
#include "ops/layernorm/norm.h"

namespace trireme {
namespace {

ValueId norm(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name) {
  const ValueId weight = block.param(name + ".weight", {spec.width}, Init::ones);
  const ValueId bias = spec.bias ? block.param(name + ".bias", {spec.width}, Init::zeros) : ValueId();
  return block.op("layernorm", pack_attrs(NormAttrs{.eps = spec.norm_eps}), {x, weight, bias}, name);
}

BlockBuilder embed_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("gpt2.embed", spec);
  const ValueId x = token_embedding(block, spec, inputs);
  const ValueId table = block.param("positions.weight", {spec.context, spec.width}, Init::normal);
  block.returns(block.op("positions", {}, {x, table, explicit_positions(block, inputs)}, "x"));
  return block;
}

// There are no experts in this family.
BlockBuilder layer_block(const ModelSpec& spec, const ModelInputs& inputs, LayerKind) {
  BlockBuilder block("gpt2.layer", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  const ValueId qkv = qkv_projection(block, spec, norm(block, spec, x, "attn_norm"));
  const ValueId out = causal_attention(block, spec, inputs, qkv);
  const ValueId middle = block.op("add", {}, {x, out}, "middle");
  const ValueId hidden = plain_hidden(block, spec, norm(block, spec, middle, "mlp_norm"));
  const ValueId down =
      block.linear(hidden, "mlp.down", spec.ffn, spec.width, Init::residual, {ParamRole::row, {}, 1});
  block.returns(block.op("add", {}, {middle, down}, "y"));
  return block;
}

BlockBuilder head_block(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("gpt2.head", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  output_head(block, spec, inputs, norm(block, spec, x, "final_norm"));
  return block;
}

}  // namespace

FamilyBlocks gpt2_blocks() { return {embed_block, layer_block, head_block}; }

}  // namespace trireme
