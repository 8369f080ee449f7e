// `trireme ckpt export --to hf`: a folder that transformers loads.
#pragma once
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "exchange/saved_run.h"

namespace trireme {

struct HfExport {
  DType dtype = DType::f32;                 // or bf16
  int64_t max_shard_bytes = 5'000'000'000;  // of tensors in a file; one tensor may be more
};

struct ExportReport {
  int64_t files = 0;  // of weights
  int64_t tensors = 0;
  int64_t bytes = 0;  // of the tensors
  bool tokenizer = false;
};

// Writes config.json, generation_config.json, the weights and, where the run has one, the tokenizer's files.
// UserError, with key and cure, for a model that transformers has no form for, and when `folder` is there.
ExportReport export_hf(const SavedRun& run, const std::string& folder, const HfExport& options);

}  // namespace trireme
