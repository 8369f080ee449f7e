// What a run left behind of its own speed and memory: read from the texts of its metrics.jsonl and train.log.
// A run that still goes on, or was cut off, is read as far as it came.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trireme {

// Seconds of one step, as training measured them; step_s has neither evaluation nor saving in it.
struct RecordedStep {
  int64_t step = 0;
  double step_s = 0;
  double loader_stall_s = 0;
  double exposed_comm_s = 0;  // rank 0's
  double blocked_s = 0;       // by saves that ended before it
  int64_t saved_bytes = 0;    // of those saves
};

struct RunRecord {
  std::vector<RecordedStep> steps;     // in order, each once
  std::set<int64_t> first_steps;       // of each process: they are slower
  int64_t unreadable_lines = 0;        // of metrics.jsonl: torn by a kill, or foreign
  std::optional<int64_t> arena_bytes;  // that rank 0 allocated when it last started
};

// UserError when no step is among the metrics; `name` stands for their file.
RunRecord read_run(const std::string& metrics, const std::string& log, const std::string& name);

// What is usual in the run: medians over steps, those of `unusual` and processes' first ones left out where
// others are. Stalls and saves, which come now and then, are means.
struct UsualStep {
  int64_t steps = 0;  // that it is of
  double step_s = 0;
  double exposed_comm_s = 0;
  double loader_stall_s = 0;  // a step
  int64_t saves = 0;
  double blocked_s = 0;  // a save
};
UsualStep usual_step(const RunRecord& run, const std::set<int64_t>& unusual);

}  // namespace trireme
