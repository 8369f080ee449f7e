// Schedules: the order in which a rank runs stages and micro-batches, as a table. A schedule is a pure
// function; it adds no communication and knows no blocks. Lowering turns its rows into a Timeline.
// catalog.h finds one by name, read.h reads one from a file, check.h proves it, simulate.h times it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trireme {

// `backward` is the whole backward; input and weight are its two parts, which a schedule may run apart.
enum class StepKind : uint8_t { forward, backward, backward_input, backward_weight };

struct ScheduleStep {
  int32_t stage = 0;
  StepKind kind = StepKind::forward;
  int32_t micro_batch = 0;
  bool with_next = false;  // runs at once with the step behind it: the F&B pair of DualPipe
  bool operator==(const ScheduleStep&) const = default;
};

// By rank of the pipeline.
using ScheduleTable = std::vector<std::vector<ScheduleStep>>;

struct ScheduleInput {
  int32_t ranks = 1;            // parallel.pp
  int32_t stages_per_rank = 1;  // parallel.virtual_stages
  int32_t micro_batches = 1;    // per optimizer step and data-parallel rank
};

// Which rank holds which stage: rank_of_stage[direction][stage]. One direction, except where micro-batches
// enter at both ends (DualPipe): then each direction has a copy of every stage, the first half of the
// step's micro-batches belongs to direction 0 and the second half to direction 1.
struct StagePlacement {
  int32_t ranks = 1;
  std::vector<std::vector<int32_t>> rank_of_stage;
  int32_t stages() const { return static_cast<int32_t>(rank_of_stage.front().size()); }
  int32_t directions() const { return static_cast<int32_t>(rank_of_stage.size()); }
  bool operator==(const StagePlacement&) const = default;
};

struct Schedule {
  ScheduleTable table;
  StagePlacement placement;
  int32_t micro_batches = 0;
  bool split_backward = false;  // some backward runs as two parts
  bool operator==(const Schedule&) const = default;
};

// The direction of a micro-batch, and the rank that runs it on a stage.
int32_t direction_of(const Schedule& schedule, int32_t micro_batch);
int32_t rank_of(const Schedule& schedule, int32_t stage, int32_t micro_batch);

// One stage, gradients accumulated: each micro-batch goes forward and straight back, so that the saved
// activations of one are alive at a time.
ScheduleTable accumulate(int32_t micro_batches);

// Evaluation: forwards only over the stages of a pipeline, whatever their placement. A rank runs the deepest
// stage that is ready, so that few activations wait between stages.
Schedule forwards(const StagePlacement& placement, int32_t micro_batches);

// "0F0"; I and W stand for the input and weight part of backward.
std::string to_text(const ScheduleStep& step);

// "0F0 0B0 0F1 0B1" per rank, a line each; two steps that run at once are joined: "0F4+3B1".
std::string to_text(const ScheduleTable& table);

// Why the table is wrong: a stage's micro-batch that is missing, doubled, or goes back before it went
// forward;
// "" when it is right. `training` asks for a backward (whole, or both parts) of every forward.
std::string find_fault(const ScheduleTable& table, int32_t stages, int32_t micro_batches, bool training);

}  // namespace trireme
