// The compiler: a RunSpec becomes a Program. Pure: the same spec and options give the same bytes; no clock,
// no device, no hash-map order.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_spec.h"
#include "ir/program.h"
#include "model/model.h"

namespace trireme {

enum class Purpose : uint8_t {
  training,    // timelines "train" and, where the config validates, "eval"
  evaluation,  // "eval" alone: master weights, no gradients, no moments
  generation,  // "weights", "prefill" and "decode", one sequence
};

// How products find the weights: laid out once per step for the CPU's kernels, or as they are.
enum class WeightForm : uint8_t { packed, plain };

struct CompileOptions {
  Purpose purpose = Purpose::training;
  int rank = 0;     // of the config's mesh; evaluation and generation run on one rank
  int threads = 1;  // of this rank
  int64_t eval_micro_batches =
      0;  // of all ranks together, as eval_micro_batches() has it; 0: no eval timeline
  WeightForm weights = WeightForm::packed;
  int64_t prefill_tokens = 64;     // generation: positions per prefill call
  int64_t generation_context = 0;  // generation: rows of the KV caches; 0: model.context
  // Sees every IR after every pass, as text, when set: for `trireme compile --print` and tests.
  std::function<void(std::string_view pass, const std::string& text)> dump;
};

// The program and the model that it runs (parameter names, shapes and initial distributions).
struct Compiled {
  Program program;
  Model model;
};

// The ranks of a run that trains.
Mesh mesh_of(const RunSpec& spec);

Compiled compile(const RunSpec& spec, const CompileOptions& options);

// Compiles the training programs of all ranks of a pipeline beside `mine` and proves that together they come
// to their end (lower/check_ranks.h); a breach is a bug and aborts. Returns the arena's bytes by pipeline
// rank.
std::vector<int64_t> prove_pipeline(const RunSpec& spec, const CompileOptions& options, const Program& mine);

}  // namespace trireme
