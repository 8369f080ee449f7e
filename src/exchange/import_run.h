// `trireme ckpt import`: weights of another project as a run of ours, at step 0.
#pragma once
#include <optional>
#include <string>

#include "exchange/weight_source.h"

namespace trireme {

struct ImportOptions {
  WeightSource source = WeightSource::hf;
  std::string from;
  // A config to write into the run. Its [model] must be that of the weights; what it leaves open of a
  // Hugging Face model is read from config.json. Needed for torch-dcp.
  std::optional<std::string> config;
  OnNote on_note = {};
};

struct ImportReport {
  std::string checkpoint;  // its path
  int64_t tensors = 0, elements = 0;
  std::string no_tokenizer;  // why none was copied; "" when one was, or when the source never has one
};

// Writes `run`, which must not be there: config.toml, checkpoints/step-00000000 with params/ in f32, and
// tokenizer.json. Held in memory is one tensor; the rest waits in a file of the folder.
ImportReport import_run(const ImportOptions& options, const std::string& run);

}  // namespace trireme
