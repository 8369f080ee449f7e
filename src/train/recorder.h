// Where a step's numbers go: metrics.jsonl, TensorBoard, the progress line. Also the averages: throughput
// leaves out the first step of this process, evaluation and saving.
#pragma once
#include <optional>

#include "config/run_spec.h"
#include "obs/metrics.h"
#include "obs/progress.h"
#include "obs/tensorboard.h"
#include "train/evaluate.h"
#include "train/expert_load.h"
#include "train/run_folder.h"

namespace trireme {

// Of saves that ended, or kept the loop waiting, before this step: a step's line is written before its own.
struct CheckpointCosts {
  double blocked_s = 0;  // the loop waited for it
  double write_s = 0;    // until it was committed
  int64_t bytes = 0;     // of all ranks
};

struct StepResult {
  int64_t step = 0;  // optimizer steps done, this one included
  double loss = 0;   // nats per counted token, of the whole step
  double grad_norm = 0;
  double lr = 0;
  int64_t tokens_seen = 0;  // of the run so far
  int64_t counted_tokens = 0;
  bool skipped = false;
  int64_t skipped_steps = 0;  // of the run so far
  double step_s = 0;          // loading, forward, backward, update
  double loader_stall_s = 0;  // part of step_s spent waiting for data
  double exposed_comm_s = 0;  // part of step_s in which compute waited for communication (rank 0's)
  double eval_s = 0;
  CheckpointCosts checkpoint;
  std::optional<EvalResult> eval;
  std::optional<ExpertLoad> experts;  // of models that have any
};

class Recorder {
 public:
  // Lines of steps after `resumed_step` in the run's files are superseded. flops_per_token * tokens/s / peak
  // is the MFU; peak 0 means n/a.
  Recorder(const RunFolder& folder, const RunSpec& spec, int64_t resumed_step, double flops_per_token,
           double peak_flops);

  // Whether the step's line is one that people see: it then has more of what is costly to write.
  bool is_shown(int64_t step) const {
    return step % spec_.run.log_every_steps == 0 || step == spec_.run.steps;
  }

  // Shows the step as it is done, before evaluation and saving.
  void show(const StepResult& result);
  // Writes it, once everything about it is known.
  void write(const StepResult& result);
  void sync() { metrics_.sync(); }
  void finish() { progress_.finish(); }

  // Means over the steps so far but this process's first; 0 before there are any.
  double mean_step_s() const;
  double mean_tokens_per_s() const;
  std::optional<double> mfu(double tokens_per_s) const;

 private:
  const RunSpec& spec_;
  double flops_per_token_, peak_flops_;
  MetricsWriter metrics_;
  EventWriter events_;
  ProgressLine progress_;
  int64_t steps_ = 0;      // seen by show
  double measured_s_ = 0;  // of all but the first
};

}  // namespace trireme
