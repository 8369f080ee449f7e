// Replays a training step on a hardware: the ranks of one pipeline walk their Programs, each with its
// streams, over links that are shared. Ranks that do the same are folded into one, so the number of ranks
// costs nothing.
//
// A stream keeps its order. A comm or p2p action starts once the compute actions before it are done and its
// members have come; an action waits for those it names, as the engine does. Streams and ops that use a link
// or the compute units at once get a share of it each.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "sim/price.h"

namespace trireme {

// Where a rank's time in a step goes. They add up to the step. tp to dp lie together: is_communication.
enum class TimePart : uint8_t {
  compute,  // forward and backward, and the weights' preparation
  tp,       // ops inside blocks wait for ranks of the axis
  cp,
  ep,
  pp,         // what sends and receives take where compute waits for them
  dp,         // compute waits for parameters, gradients, norms and losses of other data-parallel ranks
  bubble,     // compute waits for another stage, which is not done yet
  optimizer,  // norm and update
  loader,     // batches to the device
};
inline constexpr int kTimeParts = 9;
std::string_view name_of(TimePart part);
inline bool is_communication(TimePart part) { return part >= TimePart::tp && part <= TimePart::dp; }

// Disturbances, for what they cost.
struct SlowRank {
  int32_t rank = 0;
  double factor = 1;  // 1.3: everything that it computes takes 1.3 times as long
};
struct Disturbance {
  std::vector<SlowRank> slow;
  double inside_slower = 1, between_slower = 1;  // links of a node, of nodes
};

struct SimulationInput {
  std::vector<Program> programs;  // of the pipeline's ranks: one per stage rank, of data-parallel rank 0
  Cluster cluster;
  std::string timeline = "train";
  Disturbance disturbance;
};

// One action of a simulated rank.
struct SimSpan {
  size_t action = 0;  // of the timeline
  double start_s = 0, end_s = 0;
  // Of a comm or p2p action: when the last of its members had come and bytes began to move.
  double moves_s = 0;
};

struct SimRank {
  int32_t rank = 0;        // of the run, the first of those that it stands for
  int64_t stands_for = 1;  // ranks
  size_t program = 0;      // of SimulationInput::programs
  double slowdown = 1;
  std::array<double, kTimeParts> parts{};  // seconds
  std::vector<SimSpan> spans;              // by action of the timeline
  double part(TimePart which) const { return parts[static_cast<size_t>(which)]; }
};

struct StepSimulation {
  double step_s = 0;
  std::vector<SimRank> ranks;  // stage by stage
  // The rank whose compute stream is busiest: the one that the step's time is explained by.
  const SimRank& busiest() const;
};

// The timeline that is simulated, of one of the programs. CHECKs that it has it.
const Timeline& timeline_of(const SimulationInput& input, size_t program);

// CHECKs that the programs come to their end (lower/check_ranks.h proves it).
StepSimulation simulate_step(const SimulationInput& input);

// How a run of this spec is compiled for a hardware: threads, and weights as its kernels want them.
CompileOptions compile_options(const RunSpec& spec, const Cluster& cluster);
// The programs of all ranks of a pipeline, at data-parallel, context and tensor index 0.
std::vector<Program> pipeline_programs(const RunSpec& spec, const CompileOptions& options);

}  // namespace trireme
