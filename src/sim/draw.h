// A simulated step drawn for a terminal: what each rank of the pipeline does over time, and what came of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/simulate.h"

namespace trireme {

enum class Paint : uint8_t { plain, colors };  // ANSI escapes around each cell's run

struct DrawOptions {
  size_t columns = 100;  // of the terminal, at least kLeastColumns
  Paint paint = Paint::plain;
};
inline constexpr size_t kLeastColumns = 40;

// What a rank's compute stream is at.
enum class Work : uint8_t {
  forward,
  backward,  // both parts
  input,     // backward's part that the stage before waits for
  weight,    // and the other
  update,    // norm and optimizer
  other,     // batches, unsharding, packing, zeroing, sums
  comm,      // nothing, while the rank sends, receives or is in a collective
  idle,
};
inline constexpr int kWorks = 8;

// A stretch of time in which a rank is at the same work of the same micro-batch (-1: of the step).
struct Stretch {
  Work work = Work::idle;
  int32_t micro_batch = -1;
  double start_s = 0, end_s = 0;
};

// Without gaps from 0 to the step's end.
std::vector<Stretch> stretches_of(const SimulationInput& input, const StepSimulation& step,
                                  const SimRank& rank);

// A row per rank, a column per equal part of the time, which shows what most of it goes to: "F12---" is the
// forward of micro-batch 12, "B3====" a backward. Below, the letters' meaning. A step of so many
// micro-batches that they would be too narrow for that is drawn in two bands, its beginning and its end.
std::string draw(const SimulationInput& input, const StepSimulation& step, const DrawOptions& options);

// A row per rank: where its step goes, in percent, and what it has under way at most.
std::string rank_table(const SimulationInput& input, const StepSimulation& step);

}  // namespace trireme
