// What the config.json of several model types have in common. Each reads its keys into the model.
#pragma once
#include "config/hf_config_reader.h"
#include "config/model.h"

namespace trireme {

// The keys of every family with RMSNorm, rotary positions and a gate; m.family must be set. All but biases,
// windows and the context that yarn's frequencies are made for.
void read_hf_gated_shape(HfReader& in, RawModel& m);

// Rotary positions in the forms of transformers v4 and v5.
void read_hf_rope(HfReader& in, RawModel& m);

// The sliding window of Qwen3.
void read_hf_window(HfReader& in, RawModel& m);

// Model types with experts (hf_config_moe.cpp).
RawModel read_hf_mixtral(HfReader& in);
RawModel read_hf_qwen3_moe(HfReader& in);
RawModel read_hf_deepseek_v3(HfReader& in);

}  // namespace trireme
