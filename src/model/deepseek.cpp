// The DeepSeek-V3 family (DeepSeek-AI 2024): a llama whose attention makes keys and values from a small
// latent vector (DeepSeek-V2, section 2.1), mostly with experts.
#include "model/rms_block.h"
#include "ops/embedding/embedding.h"
#include "ops/mla/mla.h"
#include "ops/mtp/mtp.h"

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

ValueId layer(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x,
              LayerKind kind) {
  const ValueId out =
      latent_attention(block, spec, inputs, rms_norm(block, spec, x, "attn_norm", spec.width));
  const ValueId middle = block.op("add", {}, {x, out}, "middle");
  return feed_forward(block, spec, inputs, middle, kind);
}

BlockBuilder layer_block(const ModelSpec& spec, const ModelInputs& inputs, LayerKind kind) {
  BlockBuilder block(kind == LayerKind::moe ? "deepseek.moe_layer" : "deepseek.layer", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  block.returns(layer(block, spec, inputs, x, kind));
  return block;
}

// The rows that predict the token after the next (section 2.2, eq. 21-23), normed: x is the layers' output.
// The projection of the two halves is written as two matrices.
ValueId further_rows(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x,
                     ValueId next_ids) {
  const ValueId table =
      block.param("embed.weight", {spec.vocab, spec.width}, Init::normal, {ParamRole::vocabulary, {}, 1});
  block.set_prefix("mtp.");
  const ValueId embedded = block.op("embedding", pack_attrs(EmbeddingAttrs{}), {next_ids, table}, "embed");
  const auto projected = [&](ValueId from, const std::string& name) {
    return block.linear(rms_norm(block, spec, from, name + "_norm", spec.width), name + "_proj", spec.width,
                        spec.width, Init::normal, {});
  };
  const ValueId x_part = projected(x, "hidden"), embed_part = projected(embedded, "embed");
  const ValueId y = layer(block, spec, inputs, block.op("add", {}, {x_part, embed_part}, "x"),
                          layer_kind(spec, spec.layers - 1));
  const ValueId rows = rms_norm(block, spec, y, "final_norm", spec.width);
  block.set_prefix("");
  return rows;
}

BlockBuilder loss_head(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockBuilder block("deepseek.head", spec);
  const ValueId x = block.input("x", {inputs.batch, inputs.seq_len, spec.width});
  const ValueId rows = rms_norm(block, spec, x, "final_norm", spec.width);
  const ValueId targets = block.batch("targets", {inputs.batch, inputs.seq_len});
  const std::vector<ValueId> known =
      block.ops("mtp_targets", pack_attrs(MtpTargetsAttrs{}), {targets}, {"mtp.next_ids", "mtp.targets"});
  const ValueId further = further_rows(block, spec, inputs, x, known[0]);
  const ValueId all = block.op("stack_batch", {}, {rows, further}, "all_rows");
  token_loss(block, spec, all, known[1], spec.mtp_weight);
  return block;
}

// Without further tokens it is the plain one; to generate, their parameters are only kept.
BlockBuilder head_block(const ModelSpec& spec, const ModelInputs& inputs) {
  if (spec.mtp == 0) return rms_head_block(spec, inputs);
  BlockBuilder trained = loss_head(spec, inputs);
  if (inputs.head == HeadResult::loss) return trained;
  BlockBuilder block = rms_head_block(spec, inputs);
  for (const ParamSpec& param : trained.params())
    if (param.name.starts_with("mtp.")) block.keep(param);
  return block;
}

}  // namespace

FamilyBlocks deepseek_blocks() { return {rms_embed_block, layer_block, head_block}; }

}  // namespace trireme
