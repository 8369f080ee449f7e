// Schedules: the order in which a rank runs stages and micro-batches, as a table. A schedule is a pure
// function; it adds no communication and knows no blocks. Lowering turns its rows into a Timeline.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trireme {

enum class StepKind : uint8_t { forward, backward, backward_input, backward_weight };

struct ScheduleStep {
  int32_t stage = 0;
  StepKind kind = StepKind::forward;
  int32_t micro_batch = 0;
  bool operator==(const ScheduleStep&) const = default;
};

// By rank of the pipeline.
using ScheduleTable = std::vector<std::vector<ScheduleStep>>;

// One stage, gradients accumulated: each micro-batch goes forward and straight back, so that the saved
// activations of one are alive at a time.
ScheduleTable accumulate(int32_t micro_batches);

// Forwards only, in order: evaluation.
ScheduleTable forwards(int32_t micro_batches);

// "0F0 0B0 0F1 0B1" per rank, a line each; I and W stand for the input and weight part of backward.
std::string to_text(const ScheduleTable& table);

// Why the table is wrong: a stage's micro-batch that is missing, doubled, or goes back before it went
// forward;
// "" when it is right. `training` asks for a backward (whole, or both parts) of every forward.
std::string find_fault(const ScheduleTable& table, int32_t stages, int32_t micro_batches, bool training);

}  // namespace trireme
