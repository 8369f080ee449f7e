// The resolved config: what every later part is built from. Only resolve (config/resolve.h) makes one;
// its values are complete and checked against each other, so later code trusts them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/batch.h"
#include "config/checkpoint.h"
#include "config/data.h"
#include "config/eval.h"
#include "config/lr.h"
#include "config/model.h"
#include "config/optimizer.h"
#include "config/parallel.h"
#include "config/precision.h"
#include "config/run.h"

namespace trireme {

// What parallel.schedule_file holds, or why it could not be read. Only a run that trains minds the latter:
// the file may be gone when its checkpoints are looked at.
struct ScheduleText {
  std::string text, error;
};

struct RunSpec {
  ModelSpec model;
  DataSpec data;
  BatchSpec batch;
  ParallelSpec parallel;
  OptimizerSpec optimizer;
  LrSpec lr;
  PrecisionSpec precision;
  CheckpointSpec checkpoint;
  EvalSpec eval;
  RunOptions run;
  ScheduleText schedule;
};

inline int64_t data_parallel_ranks(const RunSpec& spec) {
  return spec.parallel.dp_replicate * spec.parallel.dp_shard;
}
inline int64_t pipeline_ranks(const RunSpec& spec) { return spec.parallel.pp; }
// Ranks that work on one micro-batch together, but for the pipeline's.
inline int64_t block_ranks(const RunSpec& spec) { return spec.parallel.tp * spec.parallel.cp; }
inline int64_t all_ranks(const RunSpec& spec) {
  return pipeline_ranks(spec) * data_parallel_ranks(spec) * block_ranks(spec);
}
// Forwards per data-parallel rank and optimizer step.
inline int64_t micro_batches_per_step(const RunSpec& spec) {
  return spec.batch.sequences / spec.batch.micro / data_parallel_ranks(spec);
}
// Micro-batches of all ranks together for an evaluation of `sequences`: filled up, so that every lane has as
// many.
inline int64_t eval_micro_batches(const RunSpec& spec, int64_t sequences) {
  const int64_t per_round = spec.batch.micro * spec.batch.lanes;
  return (sequences + per_round - 1) / per_round * spec.batch.lanes;
}
// Tokens per optimizer step, all ranks together.
inline int64_t tokens_per_step(const RunSpec& spec) { return spec.batch.sequences * spec.data.seq_len; }

// Reads and resolves a TOML file; each override is "section.key=value", the value in TOML or a bare word,
// later ones win. EnvError when the file cannot be read, UserError (with file and line) for everything wrong
// in it. `ranks` in all stand over the data-parallel degrees, nullopt: those of the config.
RunSpec load_config(const std::string& path, const std::vector<std::string>& overrides = {},
                    std::optional<int64_t> ranks = std::nullopt);
// The same for a text; `name` stands for the file in messages.
RunSpec parse_config(const std::string& text, const std::string& name,
                     const std::vector<std::string>& overrides = {},
                     std::optional<int64_t> ranks = std::nullopt);

// Canonical TOML: every key that applies, in the order of the reference. Resolves to the same spec and text.
std::string to_toml(const RunSpec& spec);

struct Difference {
  std::string key;  // "optimizer.lr"
  std::string before, after;
  Effect effect;
};
// The keys whose values differ, in canonical order; "" stands for a key that one side does not have.
std::vector<Difference> diff(const RunSpec& before, const RunSpec& after);

// 64 bits of FNV-1a over the canonical keys and values whose effect is math: equal for runs with equal
// numbers.
uint64_t math_hash(const RunSpec& spec);

// The reference page in Markdown: every key with type, unit, default, range and meaning.
std::string config_reference();

}  // namespace trireme
