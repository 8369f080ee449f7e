// The list of every key of a config, section by section: the one place that says a key's name, unit, default,
// range and meaning. Visitors in parse, print, diff, resolve and reference walk it; nothing else lists keys.
//
// A visitor is called as visit(member, Field, [default]): the member is a Maybe<T> in a RawConfig, a T in a
// RunSpec (std::optional<T> in both where absence is kept). The default is given here when it is a plain
// value.
#pragma once
#include "config/batch.h"
#include "config/checkpoint.h"
#include "config/data.h"
#include "config/eval.h"
#include "config/lr.h"
#include "config/model.h"
#include "config/optimizer.h"
#include "config/precision.h"
#include "config/run.h"

namespace trireme {

inline constexpr Range kTokenCounts =
    between(1, 2147483647);  // positions and ids are 32-bit in kernels and shards
inline constexpr Range kSequenceCounts = between(1, 1e9);
inline constexpr Range kStepCounts = between(0, 1e12);
inline constexpr Range kDims = between(1, 1 << 20);

template <class Scaling, class Visit>
void rope_scaling_fields(Scaling& s, bool llama, Visit&& visit) {
  using enum RopeScalingKind;
  const bool stretched = llama && may_be(s.kind, linear, ntk, yarn, llama3);
  const bool by_parts = llama && may_be(s.kind, yarn, llama3);
  const bool is_llama3 = llama && may_be(s.kind, llama3);
  const bool is_yarn = llama && may_be(s.kind, yarn);
  constexpr std::string_view kLlama3 = "model.rope_scaling.kind = \"llama3\"";
  constexpr std::string_view kYarn = "model.rope_scaling.kind = \"yarn\"";
  visit(s.kind,
        Field{.key = "rope_scaling.kind",
              .meaning = "how rotary frequencies are stretched to a longer context",
              .only_for = "model.family = \"llama\"",
              .applies = llama},
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
                                  .by_default = "0.1 ln(factor) + 1",
                                  .range = above(0),
                                  .meaning = "cosines and sines are multiplied by it",
                                  .only_for = kYarn,
                                  .applies = is_yarn});
}

template <class Model, class Visit>
void model_fields(Model& m, Visit&& visit) {
  const bool llama = may_be(m.family, Family::llama);
  constexpr std::string_view kLlama = "model.family = \"llama\"";
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
              .meaning = "gpt2: LayerNorm and learned positions; llama: RMSNorm and rotary positions"});
  visit(m.layers, Field{.key = "layers",
                        .by_default = "required without preset or hf",
                        .range = between(1, 100000),
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
  visit(m.head_dim, Field{.key = "head_dim",
                          .by_default = "width / heads",
                          .range = between(1, 65536),
                          .meaning = "size of a head; even with rotary positions"});
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
                                .by_default = "true for gpt2, false for llama",
                                .meaning = "the head uses the embedding's matrix"});
  visit(m.activation, Field{.key = "activation",
                            .by_default = "gelu_tanh for gpt2, swiglu for llama",
                            .meaning = "of the feed-forward layer; swiglu has a gate and so three matrices"});
  visit(m.bias, Field{.key = "bias",
                      .by_default = "true for gpt2, false for llama",
                      .meaning = "biases on every linear but the head, and on gpt2's norms"});
  visit(m.qk_norm,
        Field{.key = "qk_norm",
              .meaning = "RMSNorm on each query and key head",
              .only_for = kLlama,
              .applies = llama},
        false);
  visit(m.rope_theta,
        Field{.key = "rope_theta",
              .range = {.min = 1, .min_open = true},
              .meaning = "base of the rotary frequencies",
              .only_for = kLlama,
              .applies = llama},
        10000.0);
  rope_scaling_fields(m.rope_scaling, llama, visit);
  visit(m.rope_layout,
        Field{.key = "rope_layout",
              .meaning = "half pairs dim d with d + D/2 (Hugging Face weights), interleaved 2d with 2d + 1 "
                         "(Meta weights)",
              .only_for = kLlama,
              .applies = llama},
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
      m.z_loss,
      Field{
          .key = "z_loss", .range = at_least(0), .meaning = "coefficient of logsumexp^2 in the loss; 0: off"},
      0.0);
}

template <class Data, class Visit>
void data_fields(Data& d, Visit&& visit) {
  visit(d.train, Field{.key = "train",
                       .by_default = "required",
                       .range = above(0),
                       .meaning = "globs of token shards, or a mixture [{path = \"a/*.bin\", weight = 0.7}, "
                                  "...]; path may be a list"});
  visit(d.val, Field{.key = "val", .meaning = "globs of token shards for validation; none: no validation"},
        std::vector<std::string>{});
  visit(d.seq_len, Field{.key = "seq_len",
                         .unit = "tokens",
                         .by_default = "model.context",
                         .range = kTokenCounts,
                         .meaning = "length of a training sequence"});
  visit(d.packing,
        Field{.key = "packing",
              .meaning = "stream: windows over all tokens; document: attention and positions stop at "
                         "document boundaries"},
        Packing::stream);
  visit(d.tokenizer, Field{.key = "tokenizer",
                           .by_default = "none",
                           .effect = Effect::logistics,
                           .meaning = "a tokenizer.json, for samples and bits per byte"});
  visit(d.seed, Field{.key = "seed",
                      .by_default = "run.seed",
                      .range = count_from(0),
                      .meaning = "of the order of the samples"});
  visit(
      d.log_samples,
      Field{
          .key = "log_samples", .effect = Effect::logistics, .meaning = "write the sample ids of every step"},
      false);
}

template <class Batch, class Visit>
void batch_fields(Batch& b, Visit&& visit) {
  visit(b.sequences, Field{.key = "sequences",
                           .unit = "sequences",
                           .by_default = "tokens / data.seq_len; one of the two is required",
                           .range = kSequenceCounts,
                           .meaning = "per optimizer step, all ranks together; a multiple of micro"});
  if constexpr (requires { b.tokens; }) {
    visit(b.tokens,
          Field{.key = "tokens",
                .unit = "tokens",
                .by_default = "sequences x data.seq_len",
                .range = count_from(1),
                .meaning = "instead of sequences: tokens per optimizer step; a multiple of data.seq_len"});
  }
  visit(b.micro,
        Field{.key = "micro",
              .unit = "sequences",
              .range = kSequenceCounts,
              .meaning = "per rank and forward; gradients accumulate over sequences / micro"},
        int64_t{1});
}

template <class Optimizer, class Visit>
void optimizer_fields(Optimizer& o, Visit&& visit) {
  visit(o.kind, Field{.key = "kind", .meaning = "AdamW, with decay on matrices only"}, OptimizerKind::adamw);
  visit(
      o.lr,
      Field{
          .key = "lr", .by_default = "required", .range = between(0, 1e6), .meaning = "peak learning rate"});
  visit(o.beta1, Field{.key = "beta1", .range = from_to_below(0, 1), .meaning = "decay of the first moment"},
        0.9);
  visit(o.beta2, Field{.key = "beta2", .range = from_to_below(0, 1), .meaning = "decay of the second moment"},
        0.95);
  visit(o.eps,
        Field{.key = "eps",
              .range = {.min = 0, .max = 1, .min_open = true},
              .meaning = "added to the root of the second moment"},
        1e-8);
  visit(o.weight_decay,
        Field{.key = "weight_decay",
              .range = between(0, 1e6),
              .meaning = "each step takes lr x weight_decay x w from a matrix"},
        0.1);
  visit(
      o.clip_norm,
      Field{
          .key = "clip_norm", .range = at_least(0), .meaning = "largest norm of the whole gradient; 0: off"},
      1.0);
}

template <class Lr, class Visit>
void lr_fields(Lr& l, Visit&& visit) {
  const bool falls = may_be(l.kind, LrKind::linear, LrKind::cosine, LrKind::wsd);
  constexpr std::string_view kFalls = "lr.kind = \"linear\", \"cosine\" or \"wsd\"";
  visit(l.kind,
        Field{.key = "kind",
              .meaning = "after warmup: constant; linear or cosine fall; wsd: flat, then a linear fall"},
        LrKind::cosine);
  visit(l.warmup_steps,
        Field{.key = "warmup_steps",
              .unit = "steps",
              .range = kStepCounts,
              .meaning = "linear rise to the peak; 0: the first step has the peak"},
        int64_t{0});
  visit(l.decay_steps, Field{.key = "decay_steps",
                             .unit = "steps",
                             .by_default = "run.steps",
                             .range = between(1, 1e12),
                             .meaning = "step, counted from the start of the run, at which the fall ends",
                             .only_for = kFalls,
                             .applies = falls});
  visit(l.cooldown_steps, Field{.key = "cooldown_steps",
                                .unit = "steps",
                                .by_default = "a fifth of decay_steps, at most what warmup leaves",
                                .range = kStepCounts,
                                .meaning = "length of the fall",
                                .only_for = "lr.kind = \"wsd\"",
                                .applies = may_be(l.kind, LrKind::wsd)});
  visit(l.min_ratio,
        Field{.key = "min_ratio",
              .range = between(0, 1),
              .meaning = "last learning rate over the peak",
              .only_for = kFalls,
              .applies = falls},
        0.1);
}

template <class Precision, class Visit>
void precision_fields(Precision& p, Visit&& visit) {
  visit(p.compute,
        Field{.key = "compute",
              .meaning = "of products and activations; master weights, moments and gradient sums are fp32"},
        Compute::bf16);
}

template <class Checkpoint, class Visit>
void checkpoint_fields(Checkpoint& c, Visit&& visit) {
  visit(c.every_steps,
        Field{.key = "every_steps",
              .unit = "steps",
              .range = kStepCounts,
              .effect = Effect::logistics,
              .meaning = "between saves; 0: only at the end and on a signal"},
        int64_t{1000});
  visit(c.keep,
        Field{.key = "keep",
              .unit = "checkpoints",
              .range = between(0, 1e6),
              .effect = Effect::logistics,
              .meaning = "newest ones kept; 0: all"},
        int64_t{3});
}

template <class Eval, class Visit>
void eval_fields(Eval& e, Visit&& visit) {
  visit(e.every_steps, Field{.key = "every_steps",
                             .unit = "steps",
                             .by_default = "250; 0 without data.val",
                             .range = kStepCounts,
                             .effect = Effect::logistics,
                             .meaning = "between validations; 0: none during training"});
  visit(e.sequences,
        Field{.key = "sequences",
              .unit = "sequences",
              .range = kSequenceCounts,
              .effect = Effect::logistics,
              .meaning = "of each validation, always the same ones"},
        int64_t{64});
}

template <class Run, class Visit>
void run_fields(Run& r, Visit&& visit) {
  constexpr Effect logistics = Effect::logistics;
  visit(r.name, Field{.key = "name",
                      .by_default = "required",
                      .effect = logistics,
                      .meaning = "what the run leaves behind lies in dir/name"});
  visit(
      r.dir,
      Field{
          .key = "dir", .effect = logistics, .meaning = "folder of runs, relative to where the command runs"},
      std::string("runs"));
  visit(r.steps, Field{.key = "steps",
                       .unit = "steps",
                       .by_default = "required",
                       .range = between(1, 1e12),
                       .effect = logistics,
                       .meaning = "optimizer steps in all"});
  visit(r.seed,
        Field{.key = "seed",
              .range = count_from(0),
              .meaning = "of the first weights, and of the order of samples unless data.seed is given"},
        int64_t{1});
  visit(r.device,
        Field{.key = "device",
              .meaning =
                  "auto: the best of this build (cpu); null computes nothing and serves to test programs"},
        DeviceKind::automatic);
  visit(r.threads, Field{.key = "threads",
                         .unit = "cores",
                         .by_default = "all that the process may use",
                         .range = between(1, 4096),
                         .effect = logistics,
                         .meaning = "used by all ranks of this process together"});
  visit(r.peak_flops, Field{.key = "peak_flops",
                            .unit = "FLOP/s",
                            .by_default = "measured at start",
                            .range = {.min = 0, .max = 1e24, .min_open = true},
                            .effect = logistics,
                            .meaning = "what MFU is measured against"});
  visit(r.max_skipped_steps,
        Field{.key = "max_skipped_steps",
              .unit = "steps",
              .range = between(1, 1e12),
              .effect = logistics,
              .meaning = "as many NaN or Inf steps in a row end the run"},
        int64_t{10});
  visit(r.log_every_steps,
        Field{.key = "log_every_steps",
              .unit = "steps",
              .range = between(1, 1e12),
              .effect = logistics,
              .meaning = "between progress lines; metrics.jsonl has every step"},
        int64_t{1});
}

// Calls section(name, meaning, walk) for each section in order; walk(visit) walks its fields.
template <class Config, class Section>
void visit_sections(Config& c, Section&& section) {
  section("model", "the shape of the network", [&](auto&& visit) { model_fields(c.model, visit); });
  section("data", "what is read, and how it is cut into sequences",
          [&](auto&& visit) { data_fields(c.data, visit); });
  section("batch", "the batch of an optimizer step", [&](auto&& visit) { batch_fields(c.batch, visit); });
  section("optimizer", "how weights are updated",
          [&](auto&& visit) { optimizer_fields(c.optimizer, visit); });
  section("lr", "how the learning rate varies over the steps", [&](auto&& visit) { lr_fields(c.lr, visit); });
  section("precision", "what products are computed in",
          [&](auto&& visit) { precision_fields(c.precision, visit); });
  section("checkpoint", "when the run is saved",
          [&](auto&& visit) { checkpoint_fields(c.checkpoint, visit); });
  section("eval", "validation", [&](auto&& visit) { eval_fields(c.eval, visit); });
  section("run", "name, place, length and machine of the run",
          [&](auto&& visit) { run_fields(c.run, visit); });
}

// Calls visit(section name, member, Field, [default]) for every key of a RunSpec or RawConfig.
template <class Config, class Visit>
void visit_keys(Config& c, Visit&& visit) {
  visit_sections(c, [&](std::string_view section, std::string_view, auto&& walk) {
    walk([&](auto& member, const Field& field, const auto&... fallback) {
      visit(section, member, field, fallback...);
    });
  });
}

}  // namespace trireme
