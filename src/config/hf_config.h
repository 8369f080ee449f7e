// Hugging Face config.json to model keys: GPT-2, Llama, Qwen3, Mixtral, Qwen3-MoE and DeepSeek-V3, as
// transformers v4 and v5 write them (rope_theta + rope_scaling, or rope_parameters). A setting that this
// engine cannot honour is refused by name.
#pragma once
#include <string>

#include "config/model.h"

namespace trireme {

// `name` stands for the file in messages. UserError for JSON that does not parse, another model_type, a
// missing or wrong value, a setting that cannot be honoured and a key that is not known.
RawModel parse_hf_config(const std::string& text, const std::string& name);

}  // namespace trireme
