// The keys of [checkpoint], [eval] and [run], as config/fields.h explains.
#pragma once
#include "config/checkpoint.h"
#include "config/eval.h"
#include "config/ranges.h"
#include "config/run.h"

namespace trireme {

template <class Checkpoint, class Visit>
void checkpoint_fields(Checkpoint& c, Visit&& visit) {
  constexpr Effect logistics = Effect::logistics;
  visit(c.every_steps,
        Field{.key = "every_steps",
              .unit = "steps",
              .range = kStepCounts,
              .effect = logistics,
              .meaning = "between saves; 0: not by steps. The last step is always saved"},
        int64_t{1000});
  visit(c.every_minutes,
        Field{.key = "every_minutes",
              .unit = "minutes",
              .range = between(0, kMostMinutes),
              .effect = logistics,
              .meaning = "since the last save, after which the next step is saved; 0: not by the clock"},
        0.0);
  visit(c.keep,
        Field{.key = "keep",
              .unit = "checkpoints",
              .range = between(0, 1e6),
              .effect = logistics,
              .meaning = "newest ones kept; 0: all"},
        int64_t{3});
  visit(c.keep_every_steps,
        Field{.key = "keep_every_steps",
              .unit = "steps",
              .range = kStepCounts,
              .effect = logistics,
              .meaning = "checkpoints of steps that are a multiple of it are kept besides; 0: none"},
        int64_t{0});
  visit(c.async,
        Field{.key = "async",
              .effect = logistics,
              .meaning = "steps wait only until their state is copied in memory (which the plan has room "
                         "for); it is written to disk behind them"},
        true);
  visit(c.on_failure,
        Field{.key = "on_failure",
              .effect = logistics,
              .meaning = "when a checkpoint cannot be saved: stop the run, or continue and try again at "
                         "the next one"},
        OnSaveFailure::stop);
  visit(c.notice,
        Field{.key = "notice",
              .by_default = "none",
              .effect = logistics,
              .meaning = "a file that appears, or a URL (http, https) that answers 200 with a text, when the "
                         "machine is about to be taken away: the run saves and ends with exit code 75"});
  visit(c.notice_every_s,
        Field{.key = "notice_every_s",
              .unit = "s",
              .range = {.min = 0, .max = 1e6, .min_open = true},
              .effect = logistics,
              .meaning = "between looks at checkpoint.notice"},
        5.0);
  visit(c.mirror,
        Field{.key = "mirror",
              .by_default = "none",
              .effect = logistics,
              .meaning = "s3://bucket/prefix or a folder: every committed checkpoint is copied there behind "
                         "the run, and verified there"});
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
  visit(r.max_minutes,
        Field{.key = "max_minutes",
              .unit = "minutes",
              .range = between(0, kMostMinutes),
              .effect = logistics,
              .meaning = "the run saves and ends with exit code 75 before it has run so long; 0: no limit"},
        0.0);
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

}  // namespace trireme
