// A simulated step as a file that Perfetto and chrome://tracing open. Rows and names are those of the
// measured traces (run.trace_steps), so that the two can be laid one over the other.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "obs/trace.h"
#include "sim/simulate.h"

namespace trireme {

// "rank 3", "rank 3, stands for 512", "rank 3, 1.3 times as slow".
std::string process_name(const SimRank& rank);

// What a simulated rank shows, from the step's beginning.
struct SimulatedTrace {
  std::map<int64_t, std::string> rows;  // by TraceSpan::stream
  // The step, then every action of the timeline in its order, each with its ops that talk on an axis.
  std::vector<TraceSpan> spans;
};
SimulatedTrace simulated_trace(const SimulationInput& input, const StepSimulation& step, const SimRank& rank);

// One process per simulated rank. Folders are made; EnvError when the file cannot be written.
void write_trace(const std::string& path, const SimulationInput& input, const StepSimulation& step);

}  // namespace trireme
