// Shapes as published: GPT-2 in Radford et al. 2019, table 2 (sizes as counted with tied embeddings); Llama
// 3, 3.1 and 3.2, Qwen3, Mixtral and DeepSeek-V3 as in the config.json of their releases.
#include "config/presets.h"

namespace trireme {
namespace {

struct Shape {
  int64_t layers, width, heads, kv_heads, ffn;
  bool tied = false;
};

RawModel gpt2(int64_t layers, int64_t width, int64_t heads) {
  RawModel m;
  m.family = Family::gpt2;
  m.layers = layers;
  m.width = width;
  m.heads = heads;
  m.vocab = 50257;
  m.context = 1024;
  return m;
}

RawModel llama(const Shape& shape) {
  RawModel m;
  m.family = Family::llama;
  m.layers = shape.layers;
  m.width = shape.width;
  m.heads = shape.heads;
  m.kv_heads = shape.kv_heads;
  m.ffn = shape.ffn;
  m.tie_embeddings = shape.tied;
  return m;
}

RawModel llama3(const Shape& shape) {
  RawModel m = llama(shape);
  m.vocab = 128256;
  m.context = 8192;
  m.norm_eps = 1e-5;
  m.rope_theta = 500000.0;
  return m;
}

// Llama 3.2's small models: 131,072 tokens by stretching the frequencies of 8,192.
RawModel llama3_long(const Shape& shape) {
  RawModel m = llama3(shape);
  m.context = 131072;
  m.rope_scaling.kind = RopeScalingKind::llama3;
  m.rope_scaling.factor = 32.0;
  m.rope_scaling.low_freq_factor = 1.0;
  m.rope_scaling.high_freq_factor = 4.0;
  m.rope_scaling.original_context = 8192;
  return m;
}

RawModel qwen3(const Shape& shape) {
  RawModel m = llama(shape);
  m.head_dim = 128;
  m.vocab = 151936;
  m.context = 40960;
  m.norm_eps = 1e-6;
  m.rope_theta = 1e6;
  m.qk_norm = true;
  return m;
}

RawModel mixtral(const Shape& shape) {
  RawModel m = llama(shape);
  m.vocab = 32000;
  m.context = 32768;
  m.norm_eps = 1e-5;
  m.rope_theta = 1e6;
  m.moe.experts = 8;
  m.moe.top_k = 2;
  m.moe.softmax_order = SoftmaxOrder::after;
  m.moe.aux_loss = 0.02;
  return m;
}

RawModel qwen3_moe(const Shape& shape, int64_t expert_ffn) {
  RawModel m = qwen3(shape);
  m.moe.experts = 128;
  m.moe.top_k = 8;
  m.moe.expert_ffn = expert_ffn;
  m.moe.aux_loss = 0.001;
  return m;
}

RawModel deepseek_v3() {
  RawModel m = llama({.layers = 61, .width = 7168, .heads = 128, .kv_heads = 128, .ffn = 18432});
  m.family = Family::deepseek;
  m.vocab = 129280;
  m.context = 163840;
  m.norm_eps = 1e-6;
  m.mla.q_rank = 1536;
  m.mla.kv_rank = 512;
  m.mla.nope_dim = 128;
  m.mla.rope_dim = 64;
  m.mla.v_dim = 128;
  m.rope_layout = RopeLayout::interleaved;
  m.rope_scaling.kind = RopeScalingKind::yarn;
  m.rope_scaling.factor = 40.0;
  m.rope_scaling.original_context = 4096;
  m.mtp = 1;
  m.moe.experts = 256;
  m.moe.top_k = 8;
  m.moe.expert_ffn = 2048;
  m.moe.shared_ffn = 2048;
  m.moe.first_dense = 3;
  m.moe.score = RouterScore::sigmoid;
  m.moe.groups = 8;
  m.moe.top_groups = 4;
  m.moe.scale = 2.5;
  return m;
}

struct Preset {
  const char* name;
  RawModel model;
};

std::vector<Preset> presets() {
  return {
      {"gpt2-124m", gpt2(12, 768, 12)},
      {"gpt2-355m", gpt2(24, 1024, 16)},
      {"gpt2-774m", gpt2(36, 1280, 20)},
      {"gpt2-1.5b", gpt2(48, 1600, 25)},
      {"llama3-1b",
       llama3_long({.layers = 16, .width = 2048, .heads = 32, .kv_heads = 8, .ffn = 8192, .tied = true})},
      {"llama3-3b",
       llama3_long({.layers = 28, .width = 3072, .heads = 24, .kv_heads = 8, .ffn = 8192, .tied = true})},
      {"llama3-8b", llama3({.layers = 32, .width = 4096, .heads = 32, .kv_heads = 8, .ffn = 14336})},
      {"llama3-70b", llama3({.layers = 80, .width = 8192, .heads = 64, .kv_heads = 8, .ffn = 28672})},
      {"qwen3-0.6b",
       qwen3({.layers = 28, .width = 1024, .heads = 16, .kv_heads = 8, .ffn = 3072, .tied = true})},
      {"qwen3-1.7b",
       qwen3({.layers = 28, .width = 2048, .heads = 16, .kv_heads = 8, .ffn = 6144, .tied = true})},
      {"qwen3-4b",
       qwen3({.layers = 36, .width = 2560, .heads = 32, .kv_heads = 8, .ffn = 9728, .tied = true})},
      {"qwen3-8b", qwen3({.layers = 36, .width = 4096, .heads = 32, .kv_heads = 8, .ffn = 12288})},
      {"qwen3-14b", qwen3({.layers = 40, .width = 5120, .heads = 40, .kv_heads = 8, .ffn = 17408})},
      {"qwen3-32b", qwen3({.layers = 64, .width = 5120, .heads = 64, .kv_heads = 8, .ffn = 25600})},
      {"qwen3-30b-a3b",
       qwen3_moe({.layers = 48, .width = 2048, .heads = 32, .kv_heads = 4, .ffn = 6144}, 768)},
      {"mixtral-8x7b", mixtral({.layers = 32, .width = 4096, .heads = 32, .kv_heads = 8, .ffn = 14336})},
      {"deepseek-v3", deepseek_v3()},
  };
}

}  // namespace

std::optional<RawModel> model_preset(const std::string& name) {
  for (Preset& preset : presets())
    if (preset.name == name) return std::move(preset.model);
  return std::nullopt;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name);
  return names;
}

}  // namespace trireme
