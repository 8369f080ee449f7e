// The config as written: every key optional, with the place where it was written. parse makes one from TOML,
// resolve turns it into a RunSpec. Between them stands nothing but range and consistency checks.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/batch.h"
#include "config/checkpoint.h"
#include "config/data.h"
#include "config/eval.h"
#include "config/lr.h"
#include "config/model.h"
#include "config/optimizer.h"
#include "config/parallel.h"
#include "config/precision.h"
#include "config/run.h"

namespace trireme {

struct RawConfig {
  RawModel model;
  RawData data;
  RawBatch batch;
  RawParallel parallel;
  RawOptimizer optimizer;
  RawLr lr;
  RawPrecision precision;
  RawCheckpoint checkpoint;
  RawEval eval;
  RawRun run;

  std::string name;                          // of the file, for keys that are missing
  std::map<std::string, std::string> where;  // "optimizer.lr" -> "a.toml:12" or "--set"
};

// From a TOML text and overrides. UserError: TOML that does not parse, doubled or unknown keys, wrong types.
RawConfig parse_raw(const std::string& text, const std::string& name,
                    const std::vector<std::string>& overrides);

// Spreads the run over so many ranks in all, the pipeline as it is: parallel.dp_shard where parallel.zero
// cuts state, else parallel.dp_replicate. UserError when parallel.pp does not divide `ranks`.
void spread_over(RawConfig& raw, int64_t ranks);

}  // namespace trireme
