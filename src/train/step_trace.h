// run.trace_steps: when each action of a step ran, of all ranks of this process, as a file that Perfetto and
// chrome://tracing open. Each rank hands in its times after the step; the last one writes the file.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "obs/trace.h"
#include "train/ranks.h"

namespace trireme {

struct TracedStep {
  int32_t rank = 0;
  double start_s = 0, end_s = 0;  // by seconds_now(): the engine's whole step
};

// What a rank shows of a step, times from its own start, in the rows of compile/timeline_rows.h.
struct RankTrace {
  TracedStep step;
  std::map<int64_t, std::string> rows;  // by TraceSpan::stream
  std::vector<TraceSpan> spans;         // the step, every action of the timeline in its order, calls
};

RankTrace trace_of(const Program& program, const Timeline& timeline, const TracedStep& step,
                   std::span<const ActionTime> times, std::span<const AxisCall> calls = {});

class StepTraces {
 public:
  // Files are FOLDER/step-00000005.json where rank 0 is in this process, else
  // FOLDER/step-00000005.rank-8.json after the first that is.
  StepTraces(std::string folder, const RanksHere& here) : folder_(std::move(folder)), here_(here) {}

  // Any thread; each rank once per step. EnvError when the file cannot be written.
  void add(int64_t step, RankTrace trace);

 private:
  using ByRank = std::map<int32_t, RankTrace>;
  void write(int64_t step, const ByRank& ranks) const;

  std::string folder_;
  RanksHere here_;
  std::mutex mutex_;
  std::map<int64_t, ByRank> open_;  // by step: those that some ranks have still to hand in
};

}  // namespace trireme
