// llm.c's model files of a GPT-2 (llm.c/train_gpt2.cu, gpt2_write_to_checkpoint): 256 int32, then 16 tensors
// without gaps, all f32 (version 3) or all bf16 (version 5).
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "exchange/foreign_tensors.h"
#include "exchange/name_map.h"

namespace trireme {

struct LlmcHeader {
  int32_t version = 3;
  int64_t context = 0, vocab = 0, layers = 0, heads = 0, width = 0, padded_vocab = 0;
};
constexpr int64_t kLlmcHeaderBytes = 256 * 4;

bool is_llmc_file(const std::string& path);  // by its first bytes
// UserError for what is no GPT-2 of versions 3 and 5.
LlmcHeader read_llmc_header(const std::string& path);
std::vector<std::byte> llmc_header_bytes(const LlmcHeader& header);

// The section [model] of it.
std::string llmc_model_toml(const LlmcHeader& header);
// UserError, with the key, for a model that such a file has no form for.
LlmcHeader llmc_header_of(const ModelSpec& spec, int32_t version);

// The tensors of a file whose names are llmc_name_map's. EnvError when it has another size.
ForeignTensors read_llmc_tensors(const std::string& path, const LlmcHeader& header, const NameMap& map);

}  // namespace trireme
