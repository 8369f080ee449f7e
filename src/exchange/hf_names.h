// Which of transformers' model types a model is, and the names that the files of the types share.
#pragma once
#include <string>

#include "exchange/map_builder.h"

namespace trireme {

enum class HfType : uint8_t { gpt2, llama, qwen3, mixtral, qwen3_moe, deepseek_v3 };

// UserError, with the key and the cure, where the tensors of a model are those of no type.
HfType hf_type(const ModelSpec& spec);
const char* hf_type_name(HfType type);  // "qwen3_moe", as model_type says it

void name_gpt2(MapBuilder& map, const ModelSpec& spec);
void name_llama(MapBuilder& map, const ModelSpec& spec, HfType type);
void name_deepseek(MapBuilder& map, const ModelSpec& spec, RopeLayout rotary);

// The embedding, the last norm and the head, of every type but GPT-2.
void name_hf_ends(MapBuilder& map, const ModelSpec& spec);
// gate_proj, up_proj and down_proj of ours.gate_up and ours.down.
void name_hf_gated(MapBuilder& map, const std::string& ours, const std::string& theirs);
// What the experts of a type are called: theirs.E.gate and so on.
struct ExpertNames {
  std::string gate, up, down;
};
void name_hf_experts(MapBuilder& map, const std::string& ours, const std::string& theirs,
                     const ExpertNames& names);

}  // namespace trireme
