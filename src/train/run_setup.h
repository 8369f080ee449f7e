// Everything a training run stands on, made in the order in which a mistake is cheapest to find: data, plan,
// memory, weights.
#pragma once
#include <memory>
#include <optional>

#include "compile/compile.h"
#include "engine/engine.h"
#include "io/data/dataset.h"
#include "io/tokenizer/tokenizer.h"
#include "obs/log.h"
#include "train/evaluate.h"
#include "train/machine.h"
#include "train/resume.h"
#include "train/run_folder.h"

namespace trireme {

struct RunSetup {
  // Locks the run's folder, writes its config.toml, says in the log what will run, and fills the weights.
  RunSetup(const RunSpec& spec, const ResumeChoice& resume);

  const RunSpec& spec;
  RunFolder folder;
  RunLock lock;
  Log log;
  int threads;
  std::optional<Tokenizer> tokenizer;
  std::optional<Dataset> data;
  std::optional<EvalSet> eval_set;
  Compiled compiled;
  std::unique_ptr<Device> device;
  std::optional<Engine> engine;
  std::unique_ptr<ByteStore> checkpoints;
  CheckpointMeta start;  // where the run goes on; all 0 for a new one
  double flops_per_token = 0;
  Peak peak;

 private:
  void open_data();
  void compile_program();
  void fill_weights(const ResumeChoice& resume);
  void describe();
};

}  // namespace trireme
