// `trireme ckpt export --to llmc`: a model file of llm.c's GPT-2.
#pragma once
#include <cstdint>
#include <string>

#include "exchange/export_hf.h"

namespace trireme {

// `version`: 3, f32, or 5, bf16. UserError for a model that such a file has no form for, and when `file` is
// there.
ExportReport export_llmc(const SavedRun& run, const std::string& file, int32_t version);

}  // namespace trireme
