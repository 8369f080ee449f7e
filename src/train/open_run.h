// A finished or running run, opened for evaluation or generation: its config, a checkpoint, its tokenizer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/run_spec.h"
#include "io/tokenizer/tokenizer.h"
#include "obs/log.h"
#include "train/resume.h"

namespace trireme {

struct OpenRun {
  RunSpec spec;
  OpenCheckpoint checkpoint;
  std::optional<Tokenizer> tokenizer;
};

// `path`: a run's folder, one of its checkpoints, or a config file, which names its run. `overrides` change
// the config; the model stays the checkpoint's. UserError when there is no checkpoint.
OpenRun open_run(const std::string& path, const std::vector<std::string>& overrides, const S3Options& s3,
                 Log& log);

}  // namespace trireme
