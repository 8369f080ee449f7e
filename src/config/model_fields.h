// The keys of [model], as config/fields.h explains.
#pragma once
#include "config/model.h"
#include "config/ranges.h"

namespace trireme {

inline constexpr Range kDims = between(1, 1 << 20);

// The families with RMSNorm, rotary positions and a gate.
inline constexpr std::string_view kGatedFamilies = "model.family = \"llama\" or \"deepseek\"";

template <class Scaling, class Visit>
void rope_scaling_fields(Scaling& s, bool rotary, Visit&& visit) {
  using enum RopeScalingKind;
  const bool stretched = rotary && may_be(s.kind, linear, ntk, yarn, llama3);
  const bool by_parts = rotary && may_be(s.kind, yarn, llama3);
  const bool is_llama3 = rotary && may_be(s.kind, llama3);
  const bool is_yarn = rotary && may_be(s.kind, yarn);
  constexpr std::string_view kLlama3 = "model.rope_scaling.kind = \"llama3\"";
  constexpr std::string_view kYarn = "model.rope_scaling.kind = \"yarn\"";
  visit(s.kind,
        Field{.key = "rope_scaling.kind",
              .meaning = "how rotary frequencies are stretched to a longer context",
              .only_for = kGatedFamilies,
              .applies = rotary},
        none);
  visit(s.factor, Field{.key = "rope_scaling.factor",
                        .by_default = "required by every kind but none",
                        .range = between(1, 1e6),
                        .meaning = "how many times longer the context becomes",
                        .only_for = "model.rope_scaling.kind = \"linear\", \"ntk\", \"yarn\" or \"llama3\"",
                        .applies = stretched});
  visit(s.low_freq_factor,
        Field{.key = "rope_scaling.low_freq_factor",
              .range = above(0),
              .meaning = "wavelengths above original_context / this are stretched fully",
              .only_for = kLlama3,
              .applies = is_llama3},
        1.0);
  visit(s.high_freq_factor,
        Field{.key = "rope_scaling.high_freq_factor",
              .range = above(0),
              .meaning = "wavelengths below original_context / this stay as they are",
              .only_for = kLlama3,
              .applies = is_llama3},
        4.0);
  visit(s.original_context, Field{.key = "rope_scaling.original_context",
                                  .unit = "tokens",
                                  .by_default = "model.context / factor, rounded",
                                  .range = kTokenCounts,
                                  .meaning = "the context that the frequencies were made for",
                                  .only_for = "model.rope_scaling.kind = \"yarn\" or \"llama3\"",
                                  .applies = by_parts});
  visit(s.beta_fast,
        Field{.key = "rope_scaling.beta_fast",
              .unit = "rotations",
              .range = above(0),
              .meaning = "dims that turn more often over original_context stay as they are",
              .only_for = kYarn,
              .applies = is_yarn},
        32.0);
  visit(s.beta_slow,
        Field{.key = "rope_scaling.beta_slow",
              .unit = "rotations",
              .range = above(0),
              .meaning = "dims that turn less often are stretched fully",
              .only_for = kYarn,
              .applies = is_yarn},
        1.0);
  visit(s.attention_factor, Field{.key = "rope_scaling.attention_factor",
                                  .by_default = "0.1 ln(factor) + 1; for deepseek 1",
                                  .range = above(0),
                                  .meaning = "cosines and sines are multiplied by it",
                                  .only_for = kYarn,
                                  .applies = is_yarn});
}

template <class Mla, class Visit>
void mla_fields(Mla& m, bool deepseek, Visit&& visit) {
  constexpr std::string_view kDeepseek = "model.family = \"deepseek\"";
  visit(m.q_rank,
        Field{.key = "mla.q_rank",
              .range = between(0, 1 << 20),
              .meaning = "size of the latent vector that queries are made of; 0: there is none",
              .only_for = kDeepseek,
              .applies = deepseek},
        int64_t{0});
  visit(m.kv_rank, Field{.key = "mla.kv_rank",
                         .by_default = "required for deepseek",
                         .range = kDims,
                         .meaning = "size of the latent vector that keys and values are made of",
                         .only_for = kDeepseek,
                         .applies = deepseek});
  visit(m.nope_dim, Field{.key = "mla.nope_dim",
                          .by_default = "required for deepseek",
                          .range = between(1, 65536),
                          .meaning = "dims of a query or key head without positions",
                          .only_for = kDeepseek,
                          .applies = deepseek});
  visit(m.rope_dim, Field{.key = "mla.rope_dim",
                          .by_default = "required for deepseek",
                          .range = between(2, 65536),
                          .meaning = "dims of a query or key head with rotary positions; even",
                          .only_for = kDeepseek,
                          .applies = deepseek});
  visit(m.v_dim, Field{.key = "mla.v_dim",
                       .by_default = "mla.nope_dim",
                       .range = between(1, 65536),
                       .meaning = "size of a value head",
                       .only_for = kDeepseek,
                       .applies = deepseek});
  visit(m.score_scale, Field{.key = "mla.score_scale",
                             .by_default = "1; with yarn (0.1 ln(factor) + 1)^2",
                             .range = above(0),
                             .meaning = "scores are multiplied by it, beside 1 / sqrt(head_dim)",
                             .only_for = kDeepseek,
                             .applies = deepseek});
}

template <class Model, class Visit>
void model_fields(Model& m, Visit&& visit) {
  const bool llama = may_be(m.family, Family::llama), deepseek = may_be(m.family, Family::deepseek);
  const bool rotary = llama || deepseek;
  constexpr std::string_view kDeepseek = "model.family = \"deepseek\"";
  if constexpr (requires { m.preset; }) {
    visit(m.preset, Field{.key = "preset",
                          .by_default = "none",
                          .meaning = "a published shape to start from; other keys here override it"});
    visit(m.hf,
          Field{.key = "hf",
                .by_default = "none",
                .meaning =
                    "a Hugging Face config.json, or its folder, to start from; other keys here override it"});
  }
  visit(m.family,
        Field{.key = "family",
              .by_default = "required without preset or hf",
              .meaning = "gpt2: LayerNorm and learned positions; llama: RMSNorm and rotary positions; "
                         "deepseek: a llama with multi-head latent attention"});
  visit(m.layers, Field{.key = "layers",
                        .by_default = "required without preset or hf",
                        .range = between(1, kMostLayers),
                        .meaning = "transformer layers"});
  visit(m.width, Field{.key = "width",
                       .by_default = "required without preset or hf",
                       .range = kDims,
                       .meaning = "size of the residual stream"});
  visit(m.heads, Field{.key = "heads",
                       .by_default = "required without preset or hf",
                       .range = kDims,
                       .meaning = "query heads"});
  visit(m.kv_heads, Field{.key = "kv_heads",
                          .by_default = "heads",
                          .range = kDims,
                          .meaning = "key and value heads; divides heads"});
  visit(m.head_dim,
        Field{.key = "head_dim",
              .by_default = "width / heads",
              .range = between(1, 65536),
              .meaning = "size of a head; even with rotary positions; for deepseek mla.nope_dim + "
                         "mla.rope_dim"});
  visit(m.ffn, Field{.key = "ffn",
                     .by_default = "4 width; with swiglu 8/3 width, rounded up to a multiple of 64",
                     .range = between(1, 1 << 24),
                     .meaning = "size of the feed-forward layer"});
  visit(m.vocab, Field{.key = "vocab",
                       .unit = "ids",
                       .by_default = "required without preset or hf",
                       .range = kTokenCounts,
                       .meaning = "token ids are 0 to vocab - 1"});
  visit(m.context, Field{.key = "context",
                         .unit = "tokens",
                         .by_default = "required without preset or hf",
                         .range = kTokenCounts,
                         .meaning = "the longest sequence"});
  visit(m.norm_eps,
        Field{.key = "norm_eps",
              .range = {.min = 0, .max = 1, .min_open = true},
              .meaning = "added to the variance in every norm"},
        1e-5);
  visit(m.tie_embeddings, Field{.key = "tie_embeddings",
                                .by_default = "true for gpt2, else false",
                                .meaning = "the head uses the embedding's matrix"});
  visit(m.activation,
        Field{.key = "activation",
              .by_default = "gelu_tanh for gpt2, else swiglu",
              .meaning = "of the feed-forward layer; swiglu (not gpt2) has a gate and so three matrices"});
  visit(m.bias, Field{.key = "bias",
                      .by_default = "true for gpt2, else false",
                      .meaning = "biases on every linear but the head, and on gpt2's norms"});
  visit(m.qk_norm,
        Field{.key = "qk_norm",
              .meaning = "RMSNorm on each query and key head",
              .only_for = "model.family = \"llama\"",
              .applies = llama},
        false);
  mla_fields(m.mla, deepseek, visit);
  visit(m.rope_theta,
        Field{.key = "rope_theta",
              .range = {.min = 1, .min_open = true},
              .meaning = "base of the rotary frequencies",
              .only_for = kGatedFamilies,
              .applies = rotary},
        10000.0);
  rope_scaling_fields(m.rope_scaling, rotary, visit);
  visit(m.rope_layout,
        Field{.key = "rope_layout",
              .meaning = "half pairs dim d with d + D/2 (Hugging Face weights), interleaved 2d with 2d + 1 "
                         "(Meta weights)",
              .only_for = kGatedFamilies,
              .applies = rotary},
        RopeLayout::half);
  visit(m.window,
        Field{.key = "window",
              .unit = "tokens",
              .range = between(0, 2147483647),
              .meaning = "a token sees itself and the window - 1 before it; 0: all before it"},
        int64_t{0});
  visit(m.attn_softcap,
        Field{.key = "attn_softcap",
              .range = at_least(0),
              .meaning = "attention scores become cap tanh(score / cap); 0: off"},
        0.0);
  visit(m.logit_softcap,
        Field{.key = "logit_softcap",
              .range = at_least(0),
              .meaning = "logits become cap tanh(logit / cap); 0: off"},
        0.0);
  visit(m.init_std,
        Field{.key = "init_std",
              .range = at_least(0),
              .meaning = "of the first weights; residual projections use init_std / sqrt(2 layers)"},
        0.02);
  visit(
      m.init_from,
      Field{.key = "init_from",
            .by_default = "drawn from run.seed",
            .effect = Effect::logistics,
            .meaning = "where a new run's weights come from: a run or checkpoint of Trireme, a Hugging Face "
                       "folder, an llm.c file or a torch-dcp folder"});
  visit(
      m.z_loss,
      Field{
          .key = "z_loss", .range = at_least(0), .meaning = "coefficient of logsumexp^2 in the loss; 0: off"},
      0.0);
  visit(m.mtp,
        Field{.key = "mtp",
              .unit = "tokens",
              .range = between(0, 1),
              .meaning = "tokens after the next one that are predicted too, by a layer of their own",
              .only_for = kDeepseek,
              .applies = deepseek},
        int64_t{0});
  visit(m.mtp_weight,
        Field{.key = "mtp_weight",
              .range = at_least(0),
              .meaning = "what the loss of those predictions is multiplied by",
              .only_for = "model.mtp > 0",
              .applies = deepseek && may_exceed(m.mtp, int64_t{0})},
        0.3);
}

}  // namespace trireme
