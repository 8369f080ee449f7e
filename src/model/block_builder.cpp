// Parameters and ops of a block, and the pieces that the families share.
#include "model/block_builder.h"

#include <cmath>

#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/embedding/embedding.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"

namespace trireme {

ValueId BlockBuilder::input(std::string name, Shape shape) {
  return add_value(graph_, {std::move(name), {DType::f32, std::move(shape)}, ValueRole::input, {}});
}

ValueId BlockBuilder::batch(std::string name, Shape shape) {
  return add_value(graph_, {std::move(name), {DType::i32, std::move(shape)}, ValueRole::batch, {}});
}

ValueId BlockBuilder::param(std::string name, Shape shape, Init init, ParamUse use) {
  name = prefix_ + name;
  ParamSpec param;
  param.use = std::move(use);
  param.name = name;
  param.shape = shape;
  param.decay = shape.size() >= 2 && param.use.role != ParamRole::router_state;
  if (init == Init::ones) param.init_mean = 1.0f;
  if (init == Init::normal) param.init_std = static_cast<float>(spec_.init_std);
  // GPT-2 (Radford et al. 2019, section 2.3): projections into the residual stream start smaller.
  if (init == Init::residual)
    param.init_std = static_cast<float>(spec_.init_std / std::sqrt(2.0 * static_cast<double>(spec_.layers)));
  params_.push_back(std::move(param));
  return add_value(graph_, {std::move(name), {DType::f32, std::move(shape)}, ValueRole::param, {}});
}

void BlockBuilder::keep(const ParamSpec& param) {
  params_.push_back(param);
  add_value(graph_, {param.name, {DType::f32, param.shape}, ValueRole::param, {}});
}

ValueId BlockBuilder::op(std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                         const std::string& name) {
  const OpDef& def = op_def(kind);
  std::vector<std::string> names{name};
  for (size_t i = 1; i < def.outputs.size(); ++i)
    names.push_back(name + "." + std::string(def.outputs[i].name));
  return ops(kind, std::move(attrs), std::move(inputs), names)[0];
}

std::vector<ValueId> BlockBuilder::ops(std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                                       const std::vector<std::string>& names) {
  std::vector<std::string> full;
  for (const std::string& name : names) full.push_back(prefix_ + name);
  return add_op(graph_, kind, std::move(attrs), std::move(inputs), full);
}

ValueId BlockBuilder::linear(ValueId x, const std::string& name, int64_t in, int64_t out, Init init,
                             const ParamUse& use) {
  const ValueId weight = param(name + ".weight", {out, in}, init, use);
  const ParamUse bias_use = use.role == ParamRole::column ? use : ParamUse{};
  const ValueId bias = spec_.bias ? param(name + ".bias", {out}, Init::zeros, bias_use) : ValueId();
  return op("linear", pack_attrs(LinearAttrs{.in = in, .out = out}), {x, weight, bias}, name);
}

ValueId token_embedding(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs) {
  const ValueId tokens = block.batch("tokens", {inputs.batch, inputs.seq_len});
  const ValueId table =
      block.param("embed.weight", {spec.vocab, spec.width}, Init::normal, {ParamRole::vocabulary, {}, 1});
  return block.op("embedding", pack_attrs(EmbeddingAttrs{}), {tokens, table}, "embed");
}

ValueId explicit_positions(BlockBuilder& block, const ModelInputs& inputs) {
  return inputs.positions ? block.batch("positions", {inputs.batch, inputs.seq_len}) : ValueId();
}

ValueId qkv_projection(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  const int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  return block.linear(x, "attn.qkv", spec.width, q + 2 * kv, Init::normal,
                      {ParamRole::column, {q, kv, kv}, spec.head_dim});
}

ValueId attended_heads(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId qkv,
                       double score_scale) {
  AttentionAttrs attrs;
  attrs.heads = spec.heads;
  attrs.kv_heads = spec.kv_heads;
  attrs.head_dim = spec.head_dim;
  attrs.window = spec.window;
  attrs.softcap = spec.attn_softcap;
  if (score_scale != 1.0) attrs.scale = score_scale / std::sqrt(static_cast<double>(spec.head_dim));
  const ValueId doc_start =
      inputs.doc_start ? block.batch("doc_start", {inputs.batch, inputs.seq_len}) : ValueId();
  return block.op("attention", pack_attrs(attrs), {qkv, doc_start}, "attn");
}

ValueId causal_attention(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId qkv) {
  const ValueId attended = attended_heads(block, spec, inputs, qkv);
  return block.linear(attended, "attn.out", spec.heads * spec.head_dim, spec.width, Init::residual,
                      {ParamRole::row, {}, spec.head_dim});
}

ValueId plain_hidden(BlockBuilder& block, const ModelSpec& spec, ValueId x) {
  const ValueId up =
      block.linear(x, "mlp.up", spec.width, spec.ffn, Init::normal, {ParamRole::column, {}, 1});
  const ActivationAttrs kind{.kind = std::string(name_of_value(spec.activation))};
  return block.op("activation", pack_attrs(kind), {up}, "mlp.hidden");
}

namespace {

ValueId head_matrix(BlockBuilder& block, const ModelSpec& spec) {
  return block.param(spec.tie_embeddings ? "embed.weight" : "head.weight", {spec.vocab, spec.width},
                     Init::normal, {ParamRole::vocabulary, {}, 1});
}

}  // namespace

void token_loss(BlockBuilder& block, const ModelSpec& spec, ValueId x, ValueId targets,
                double further_weight) {
  const HeadLossAttrs attrs{.vocab = spec.vocab,
                            .width = spec.width,
                            .z_loss = spec.z_loss,
                            .softcap = spec.logit_softcap,
                            .further_weight = further_weight};
  block.returns(block.op("head_loss", pack_attrs(attrs), {x, head_matrix(block, spec), targets}, "loss"));
}

void output_head(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x) {
  if (inputs.head == HeadResult::loss)
    return token_loss(block, spec, x, block.batch("targets", {inputs.batch, inputs.seq_len}), 0.0);
  const HeadLogitsAttrs attrs{.vocab = spec.vocab, .width = spec.width, .softcap = spec.logit_softcap};
  block.returns(block.op("head_logits", pack_attrs(attrs), {x, head_matrix(block, spec)}, "logits"));
}

}  // namespace trireme
