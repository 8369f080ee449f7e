// Everything a training run stands on, all ranks of a process together, made in the order in which a mistake
// is cheapest to find: data, plan, the run's folder, the checkpoint to go on from. Each rank's own part is
// rank_setup.h.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>

#include "compile/compile.h"
#include "exchange/initial_weights.h"
#include "io/checkpoint/mirror.h"
#include "io/data/dataset.h"
#include "io/tokenizer/tokenizer.h"
#include "obs/log.h"
#include "train/evaluate.h"
#include "train/machine.h"
#include "train/preemption_notice.h"
#include "train/ranks.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/step_trace.h"

namespace trireme {

// Names in CheckpointMeta::counts.
inline constexpr const char* kSkippedInARow = "skipped_in_a_row";  // NaN or Inf steps, up to this one
inline constexpr const char* kEpochWindows = "epoch_windows";      // Dataset::samples_per_epoch of data.train

struct RunSetup {
  // For the process of rank 0. Opens the data, compiles, and only then makes and locks the run's folder: a
  // mistake that shows before leaves nothing behind. Then writes config.toml and says in the log what will
  // run.
  RunSetup(const RunSpec& spec, const ResumeChoice& resume, const S3Options& s3, const RanksHere& here);
  // For another process of the run: goes on from the checkpoint that rank 0 has chosen ("": from the
  // beginning), writes nothing and says nothing.
  RunSetup(const RunSpec& spec, const std::string& checkpoint, const S3Options& s3, const RanksHere& here);

  const RunSpec& spec;
  S3Options s3;  // of stores that the config or --resume names
  RanksHere here;
  RunFolder folder;
  int threads;  // of all ranks of this process together
  std::optional<RunLock> lock;
  Log log;  // to the run's file as well once the folder is locked
  std::optional<Tokenizer> tokenizer;
  std::optional<Dataset> data;
  std::optional<EvalSet> eval_set;
  Mesh mesh;
  Compiled compiled;        // the program of the first rank here
  int64_t arena_bytes = 0;  // of all ranks here
  std::unique_ptr<ByteStore> checkpoints;
  std::optional<Mirror> mirror;              // of checkpoint.mirror, in the process of rank 0
  std::optional<PreemptionNotice> notice;    // this process's look at its machine's
  StepTraces traces;                         // of the ranks here
  std::optional<OpenCheckpoint> checkpoint;  // where the weights come from; none: they are drawn
  std::optional<InitialWeights> initial;     // or, without one, model.init_from's
  CheckpointMeta start;                      // where the run goes on; all 0 for a new one
  double flops_per_token = 0;
  Peak peak;

  CompileOptions compile_options(int rank) const;
  Retention retention() const;
  int reader_threads() const { return std::max(1, threads / here.count); }  // of one rank here
  // In the process of rank 0: goes on from the next older checkpoint, as this one is damaged. EnvError when
  // there is none, or this very one was asked for.
  void take_older(const std::string& why);
  // In another process: goes on from this one, which rank 0 has chosen.
  void take(const std::string& location);
  // Says in the log where the run goes on.
  void note_start();
  // The run has all its steps: nothing is left to train.
  bool is_done() const { return start.step >= spec.run.steps; }

 private:
  RunSetup(const RunSpec& spec, const S3Options& s3, const RanksHere& here, const LogOptions& log_options);
  void open_data();
  void clear_leftovers();
  void open_mirror();
  void compile_program();
  void check_memory() const;
  void enter_folder(const ResumeChoice& resume);
  void open_initial_weights();
  void describe();

  bool only_this_checkpoint_ = false;  // the one that --resume names
};

}  // namespace trireme
