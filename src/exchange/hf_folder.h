// The folders that transformers' save_pretrained writes: tensors and what config.json says of them.
#pragma once
#include <string>
#include <vector>

#include "config/run_spec.h"
#include "exchange/foreign_tensors.h"

namespace trireme {

// model.safetensors, or the shards that model.safetensors.index.json names. GPT-2's names get the
// "transformer." that old files leave out. UserError for what is no such folder and for elements that are
// neither F32, BF16, F16 nor F64; EnvError for files that are damaged.
ForeignTensors read_hf_tensors(const std::string& folder);

// The model of config.json in a config that is otherwise a stand-in. A further token that config.json
// promises and the tensors do not have (transformers saves DeepSeek-V3 so) is left out.
RunSpec hf_spec(const std::string& folder, const ForeignTensors& tensors);
std::vector<std::string> hf_overrides(const std::string& folder, const ForeignTensors& tensors);

}  // namespace trireme
