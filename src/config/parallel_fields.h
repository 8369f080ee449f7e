// The keys of [parallel], as config/fields.h explains.
#pragma once
#include "config/parallel.h"
#include "config/ranges.h"

namespace trireme {

inline constexpr Range kLayerCounts = between(0, kMostLayers);

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

// The axes that cut the inside of a block.
template <class Parallel, class Visit>
void block_axis_fields(Parallel& p, Visit&& visit) {
  visit(p.tp,
        Field{.key = "tp",
              .unit = "ranks",
              .range = between(1, 1 << 12),
              .effect = Effect::logistics,
              .meaning = "ranks that share each layer: its heads, hidden units and the vocabulary are cut"},
        int64_t{1});
  visit(
      p.sequence,
      Field{.key = "sequence",
            .effect = Effect::logistics,
            .meaning = "between attention and feed-forward each of the tp ranks keeps a slice of the tokens, "
                       "which divides saved activations by tp",
            .only_for = "parallel.tp > 1",
            .applies = may_exceed(p.tp, int64_t{1})},
      true);
  visit(p.tp_chunks,
        Field{.key = "tp_chunks",
              .range = between(1, 1 << 10),
              .effect = Effect::logistics,
              .meaning = "each tp rank's tokens go between ranks in so many runs, one while the next or the "
                         "last is multiplied; 1: all at once, before or after the product",
              .only_for = "parallel.tp > 1 with parallel.sequence = true",
              .applies = may_exceed(p.tp, int64_t{1}) && may_be(p.sequence, true)},
        int64_t{1});
  visit(p.cp,
        Field{.key = "cp",
              .unit = "ranks",
              .range = between(1, 1 << 12),
              .effect = Effect::logistics,
              .meaning = "ranks that share each sequence: every one has 1/cp of its tokens"},
        int64_t{1});
  visit(p.cp_mode,
        Field{.key = "cp_mode",
              .effect = Effect::logistics,
              .meaning =
                  "how attention reaches the other ranks' tokens: ring passes keys and values round while "
                  "it computes, allgather gathers them, ulysses trades tokens for heads",
              .only_for = "parallel.cp > 1",
              .applies = may_exceed(p.cp, int64_t{1})},
        ContextMode::ring);
  visit(
      p.ep,
      Field{.key = "ep",
            .unit = "ranks",
            .range = between(1, 1 << 16),
            .effect = Effect::logistics,
            .meaning = "ranks that share the experts of a layer: a part of dp_shard x cp, whose tokens go to "
                       "them"},
      int64_t{1});
  visit(p.etp, Field{.key = "etp",
                     .unit = "ranks",
                     .by_default = "tp",
                     .range = between(1, 1 << 12),
                     .effect = Effect::logistics,
                     .meaning = "ranks of tp that each expert is cut over: 1 or tp",
                     .only_for = "parallel.tp > 1",
                     .applies = may_exceed(p.tp, int64_t{1})});
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
  block_axis_fields(p, visit);
  pipeline_fields(p, visit);
  visit(p.recompute,
        Field{.key = "recompute",
              .effect = Effect::logistics,
              .meaning = "what of a layer backward computes again instead of keeping it from forward: none; "
                         "selective: norms, activations and what else is cheap for its size; full: all but "
                         "the layer's input. The bits stay"},
        RecomputeKind::none);
}

}  // namespace trireme
