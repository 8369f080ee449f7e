// Evaluation of a run from outside: open, compile for evaluation, load, run.
#pragma once
#include <string>
#include <vector>

#include "io/store/s3_options.h"
#include "obs/log.h"
#include "train/evaluate.h"

namespace trireme {

struct RunEvaluation {
  std::string checkpoint;  // its place
  int64_t sequences = 0, seq_len = 0;
  EvalResult result;
};

// `path` and `overrides` as open_run has them.
RunEvaluation evaluate_run(const std::string& path, const std::vector<std::string>& overrides,
                           const S3Options& s3, Log& log);

}  // namespace trireme
