// [parallel]: how the run is spread over ranks. The mesh is pp x dp_replicate x dp_shard x cp x tp, tp
// innermost.
#pragma once
#include <string>
#include <vector>

#include "config/field.h"

namespace trireme {

// The schedules of schedule/catalog.h, in its order, under its names.
enum class PipelineSchedule : uint8_t {
  gpipe,
  one_forward_one_backward,
  interleaved,
  looped_bfs,
  zb_h1,
  interleaved_zb,
  zbv,
  dualpipe,
  dualpipev,
};
std::span<const std::string_view> names_of_values(PipelineSchedule);

// How attention sees keys that other ranks have: ring passes them round, allgather gathers them, ulysses has
// every rank attend with some of the heads.
enum class ContextMode : uint8_t { ring, allgather, ulysses };
std::span<const std::string_view> names_of_values(ContextMode);

// What backward computes again of a layer: nothing; what is cheap for its size; all but the layer's input.
enum class RecomputeKind : uint8_t { none, selective, full };
std::span<const std::string_view> names_of_values(RecomputeKind);

template <template <class> class As>
struct ParallelKeys {
  As<int64_t> dp_replicate{};  // copies of the model; gradients are summed over them
  As<int64_t> dp_shard{};      // ranks that share one copy's state as `zero` says
  // What dp_shard divides: 0 nothing, 1 optimizer state, 2 and gradients, 3 and parameters (Rajbhandari et
  // al. 2020).
  As<int64_t> zero{};
  As<bool> reshard_after_forward{};    // zero 3: parameters are gathered again for backward
  As<bool> reduce_each_micro_batch{};  // gradients are summed over ranks after each micro-batch, not once
  As<int64_t> prefetch{};              // blocks whose cut weights are gathered ahead of their use
  As<int64_t> pp{};                    // ranks of a pipeline: each holds a part of the model's blocks
  As<PipelineSchedule> schedule{};
  std::optional<int64_t> virtual_stages;     // per rank; absent: what the schedule's file has, or pp = 1
  As<std::vector<int64_t>> stages{};         // layers of each stage, first to last; empty: by cost
  std::optional<std::string> schedule_file;  // instead of `schedule`; RunSpec::schedule has what is in it
  As<int64_t> tp{};         // ranks that share every layer's heads, hidden units and vocabulary
  As<bool> sequence{};      // between those parts of a layer each tp rank has a slice of the rows
  As<int64_t> tp_chunks{};  // runs of rows in which its collectives go beside products; 1: not so
  As<int64_t> cp{};         // ranks that share every sequence
  As<ContextMode> cp_mode{};
  As<int64_t> ep{};   // ranks that share the experts: a part of dp_shard x cp
  As<int64_t> etp{};  // ranks of tp that share each expert: 1 or tp
  As<RecomputeKind> recompute{};
};

using ParallelSpec = ParallelKeys<Plain>;
using RawParallel = ParallelKeys<Maybe>;

}  // namespace trireme
