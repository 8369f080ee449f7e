// The list of every key of a config, section by section: the one place (with model_fields.h) that says a
// key's name, unit, default, range and meaning. Visitors in parse, print, diff, resolve and reference walk
// it; nothing else lists keys.
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
#include "config/model_fields.h"
#include "config/optimizer.h"
#include "config/parallel.h"
#include "config/precision.h"
#include "config/run.h"

namespace trireme {

inline constexpr Range kSequenceCounts = between(1, 1e9);
inline constexpr Range kStepCounts = between(0, 1e12);

inline constexpr Range kRankCounts = between(1, 1 << 20);
inline constexpr Range kLayerCounts = between(0, kMostLayers);

template <class Data, class Visit>
void data_fields(Data& d, Visit&& visit) {
  visit(d.train, Field{.key = "train",
                       .by_default = "required",
                       .range = at_least(0),
                       .meaning = "globs of token shards, or a mixture [{path = \"a/*.bin\", weight = 0.7}, "
                                  "...]; path may be a list; a set of weight 0 is left out"});
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
  visit(
      b.lanes,
      Field{.key = "lanes",
            .by_default = "data-parallel ranks; twice as many for the dualpipe schedule",
            .range = kRankCounts,
            .meaning =
                "fixes the order in which gradients are summed: runs with equal lanes have equal bits on any "
                "number of data-parallel ranks that divides it"});
}

template <class Parallel, class Visit>
void pipeline_fields(Parallel& p, Visit&& visit) {
  const bool piped = may_exceed(p.pp, int64_t{1});
  constexpr std::string_view kPiped = "parallel.pp > 1";
  visit(
      p.pp,
      Field{.key = "pp",
            .unit = "ranks",
            .range = between(1, 1 << 16),
            .effect = Effect::logistics,
            .meaning = "ranks of a pipeline: the model's blocks are cut into stages, each rank has its own"},
      int64_t{1});
  visit(
      p.schedule,
      Field{.key = "schedule",
            .effect = Effect::logistics,
            .meaning = "in which order a rank runs stages and micro-batches; docs/schedules.md compares them",
            .only_for = "parallel.pp > 1 without parallel.schedule_file",
            .applies = piped && !p.schedule_file},
      PipelineSchedule::one_forward_one_backward);
  visit(p.virtual_stages, Field{.key = "virtual_stages",
                                .unit = "stages",
                                .by_default = "the least that schedule needs, or what schedule_file has",
                                .range = between(1, 1 << 10),
                                .effect = Effect::logistics,
                                .meaning = "stages per rank",
                                .only_for = kPiped,
                                .applies = piped});
  visit(
      p.stages,
      Field{.key = "stages",
            .unit = "layers",
            .range = kLayerCounts,
            .effect = Effect::logistics,
            .meaning = "layers of each stage, first to last; the embedding is in the first one, the head in "
                       "the last; []: balanced by cost",
            .only_for = kPiped,
            .applies = piped},
      std::vector<int64_t>{});
  visit(p.schedule_file,
        Field{.key = "schedule_file",
              .by_default = "none",
              .effect = Effect::logistics,
              .meaning = "a table of steps to run instead of schedule, as text or in PyTorch's CSV form",
              .only_for = kPiped,
              .applies = piped});
}

template <class Parallel, class Visit>
void parallel_fields(Parallel& p, Visit&& visit) {
  visit(p.dp_replicate,
        Field{.key = "dp_replicate",
              .unit = "ranks",
              .range = kRankCounts,
              .effect = Effect::logistics,
              .meaning = "copies of the model; gradients are summed over them"},
        int64_t{1});
  visit(p.dp_shard,
        Field{.key = "dp_shard",
              .unit = "ranks",
              .range = kRankCounts,
              .effect = Effect::logistics,
              .meaning = "ranks that share the state of one copy as zero says"},
        int64_t{1});
  visit(p.zero,
        Field{.key = "zero",
              .by_default = "1 when dp_shard > 1, else 0",
              .range = between(0, 3),
              .effect = Effect::logistics,
              .meaning = "what dp_shard divides: 0 nothing, 1 optimizer state, 2 and gradients, 3 and "
                         "parameters"});
  visit(p.reshard_after_forward,
        Field{.key = "reshard_after_forward",
              .effect = Effect::logistics,
              .meaning = "gather parameters again for backward instead of keeping them from forward",
              .only_for = "parallel.zero = 3",
              .applies = may_be(p.zero, 3)},
        true);
  visit(p.reduce_each_micro_batch,
        Field{.key = "reduce_each_micro_batch",
              .meaning =
                  "sum gradients over ranks after each micro-batch: no whole gradient is kept, more moves, "
                  "and sums have another order",
              .only_for = "parallel.zero = 2 or 3",
              .applies = may_be(p.zero, 2, 3)},
        false);
  visit(p.prefetch,
        Field{.key = "prefetch",
              .unit = "blocks",
              .range = between(1, 8),
              .effect = Effect::logistics,
              .meaning = "how far ahead of its use a block's weights are gathered; each costs its memory",
              .only_for = "parallel.zero = 1, 2 or 3",
              .applies = may_be(p.zero, 1, 2, 3)},
        int64_t{1});
  pipeline_fields(p, visit);
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
  visit(r.timeout_s,
        Field{.key = "timeout_s",
              .unit = "s",
              .range = {.min = 0, .max = 1e6, .min_open = true},
              .effect = logistics,
              .meaning = "a rank that does not come for so long is given up, and the run with it"},
        300.0);
  visit(r.log_every_steps,
        Field{.key = "log_every_steps",
              .unit = "steps",
              .range = between(1, 1e12),
              .effect = logistics,
              .meaning = "between progress lines; metrics.jsonl has every step"},
        int64_t{1});
  visit(r.trace_steps,
        Field{.key = "trace_steps",
              .unit = "steps",
              .range = between(1, 1e12),
              .effect = logistics,
              .meaning = "steps, counted from 1, whose actions are written with their times to "
                         "traces/step-*.json, which Perfetto opens"},
        std::vector<int64_t>{});
}

// Calls section(name, meaning, walk) for each section in order; walk(visit) walks its fields.
template <class Config, class Section>
void visit_sections(Config& c, Section&& section) {
  section("model", "the shape of the network", [&](auto&& visit) { model_fields(c.model, visit); });
  section("data", "what is read, and how it is cut into sequences",
          [&](auto&& visit) { data_fields(c.data, visit); });
  section("batch", "the batch of an optimizer step", [&](auto&& visit) { batch_fields(c.batch, visit); });
  section("parallel", "how the run is spread over ranks",
          [&](auto&& visit) { parallel_fields(c.parallel, visit); });
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
