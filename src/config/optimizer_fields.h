// The keys of [optimizer], [lr] and [precision], as config/fields.h explains.
#pragma once
#include "config/lr.h"
#include "config/optimizer.h"
#include "config/precision.h"
#include "config/ranges.h"

namespace trireme {

template <class Optimizer, class Visit>
void optimizer_fields(Optimizer& o, Visit&& visit) {
  const bool adamw = may_be(o.kind, OptimizerKind::adamw), sgd = may_be(o.kind, OptimizerKind::sgd);
  constexpr std::string_view kAdamw = "optimizer.kind = \"adamw\"";
  visit(o.kind, Field{.key = "kind", .meaning = "AdamW, or SGD with momentum; decay on matrices only"},
        OptimizerKind::adamw);
  visit(
      o.lr,
      Field{
          .key = "lr", .by_default = "required", .range = between(0, 1e6), .meaning = "peak learning rate"});
  visit(o.beta1,
        Field{.key = "beta1",
              .range = from_to_below(0, 1),
              .meaning = "decay of the first moment",
              .only_for = kAdamw,
              .applies = adamw},
        0.9);
  visit(o.beta2,
        Field{.key = "beta2",
              .range = from_to_below(0, 1),
              .meaning = "decay of the second moment",
              .only_for = kAdamw,
              .applies = adamw},
        0.95);
  visit(o.eps,
        Field{.key = "eps",
              .range = {.min = 0, .max = 1, .min_open = true},
              .meaning = "added to the root of the second moment",
              .only_for = kAdamw,
              .applies = adamw},
        1e-8);
  visit(o.momentum,
        Field{.key = "momentum",
              .range = from_to_below(0, 1),
              .meaning = "what of the last step's move is kept: m = momentum x m + gradient, w -= lr x m",
              .only_for = "optimizer.kind = \"sgd\"",
              .applies = sgd},
        0.0);
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

}  // namespace trireme
