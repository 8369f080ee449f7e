// The choice of the model type, and what the types share.
#include "exchange/hf_names.h"

#include "base/error.h"

namespace trireme {
namespace {

HfType llama_type(const ModelSpec& spec) {
  if (spec.activation != Activation::swiglu)
    fail_user(
        "model.activation = {} has no gate, but transformers' models of model.family = llama have one; "
        "only swiglu can go there",
        name_of_value(spec.activation));
  const bool experts = spec.moe.experts > 0;
  if (spec.bias && (experts || spec.qk_norm))
    fail_user("model.bias = true has no place in transformers' {}; it needs model.bias = false",
              experts ? "models with experts" : "Qwen3, which model.qk_norm = true makes of it");
  if (!experts) return spec.qk_norm ? HfType::qwen3 : HfType::llama;
  const MoeSpec& moe = spec.moe;
  if (moe.score != RouterScore::softmax)
    fail_user(
        "moe.score = {} with model.family = llama is in no model of transformers; use softmax, or "
        "model.family = deepseek",
        name_of_value(moe.score));
  if (moe.shared_ffn != 0)
    fail_user(
        "moe.shared_ffn = {} with model.family = llama is in no model of transformers; use 0, or "
        "model.family = deepseek",
        moe.shared_ffn);
  if (spec.qk_norm) return HfType::qwen3_moe;
  if (moe.first_dense > 0 || moe.every > 1)
    fail_user(
        "moe.first_dense = {} and moe.every = {}: every layer of transformers' Mixtral has experts; use "
        "0 and 1, or model.qk_norm = true, which makes it a Qwen3-MoE",
        moe.first_dense, moe.every);
  return HfType::mixtral;
}

HfType deepseek_type(const ModelSpec& spec) {
  const MoeSpec& moe = spec.moe;
  if (moe.experts == 0)
    fail_user(
        "moe.experts = 0 with model.family = deepseek is in no model of transformers; DeepSeek-V3 has "
        "experts");
  if (moe.score != RouterScore::sigmoid)
    fail_user("moe.score = {} with model.family = deepseek is in no model of transformers; use sigmoid",
              name_of_value(moe.score));
  if (spec.activation != Activation::swiglu)
    fail_user("model.activation = {} has no gate, but DeepSeek-V3 has one; only swiglu can go there",
              name_of_value(spec.activation));
  if (moe.every > 1) fail_user("moe.every = {} has no place in transformers' DeepSeek-V3; use 1", moe.every);
  if (moe.shared_ffn % moe.expert_ffn != 0)
    fail_user(
        "moe.shared_ffn = {} is not a number of experts of moe.expert_ffn = {}, as DeepSeek-V3 counts "
        "it; use a multiple",
        moe.shared_ffn, moe.expert_ffn);
  return HfType::deepseek_v3;
}

HfType gpt2_type(const ModelSpec& spec) {
  if (!spec.bias)
    fail_user("model.bias = false has no place in transformers' GPT-2; it needs model.bias = true");
  if (spec.kv_heads != spec.heads)
    fail_user("model.kv_heads = {} differs from model.heads = {}, which transformers' GPT-2 does not have",
              spec.kv_heads, spec.heads);
  if (spec.heads * spec.head_dim != spec.width)
    fail_user("model.head_dim = {}: the heads of transformers' GPT-2 together have model.width = {}; use {}",
              spec.head_dim, spec.width, spec.width / spec.heads);
  return HfType::gpt2;
}

}  // namespace

HfType hf_type(const ModelSpec& spec) {
  switch (spec.family) {
    case Family::gpt2:
      return gpt2_type(spec);
    case Family::llama:
      return llama_type(spec);
    case Family::deepseek:
      return deepseek_type(spec);
  }
  CHECK(false, "family {}", static_cast<int>(spec.family));
}

const char* hf_type_name(HfType type) {
  constexpr const char* kNames[] = {"gpt2", "llama", "qwen3", "mixtral", "qwen3_moe", "deepseek_v3"};
  return kNames[static_cast<size_t>(type)];
}

void name_hf_ends(MapBuilder& map, const ModelSpec& spec) {
  map.whole("embed.weight", "model.embed_tokens.weight");
  map.whole("final_norm.weight", "model.norm.weight");
  if (spec.tie_embeddings)
    map.whole("embed.weight", "lm_head.weight", ForeignUse::accepted);
  else
    map.whole("head.weight", "lm_head.weight");
}

void name_hf_gated(MapBuilder& map, const std::string& ours, const std::string& theirs) {
  for (const char* kind : {".weight", ".bias"}) {
    const std::string gate_up = ours + "gate_up" + kind, down = ours + "down" + kind;
    if (!map.has(gate_up)) continue;
    const int64_t ffn = map.shape(gate_up)[0] / 2;
    map.rows(gate_up, {0, ffn}, theirs + "gate_proj" + kind);
    map.rows(gate_up, {ffn, ffn}, theirs + "up_proj" + kind);
    map.whole(down, theirs + "down_proj" + kind);
  }
}

void name_hf_experts(MapBuilder& map, const std::string& ours, const std::string& theirs,
                     const ExpertNames& names) {
  const std::string gate_up = ours + "gate_up.weight", down = ours + "down.weight";
  const int64_t experts = map.shape(gate_up)[0], ffn = map.shape(gate_up)[1] / 2,
                width = map.shape(gate_up)[2];
  for (int64_t e = 0; e < experts; ++e) {
    const std::string expert = theirs + std::to_string(e) + ".";
    map.slab(gate_up, e * 2 * ffn * width, ffn, width, expert + names.gate);
    map.slab(gate_up, (e * 2 + 1) * ffn * width, ffn, width, expert + names.up);
    map.slab(down, e * ffn * width, width, ffn, expert + names.down);
  }
}

NameMap hf_name_map(const ModelSpec& spec, RopeLayout rotary) {
  const HfType type = hf_type(spec);
  MapBuilder map(spec);
  if (type == HfType::gpt2)
    name_gpt2(map, spec);
  else if (type == HfType::deepseek_v3)
    name_deepseek(map, spec, rotary);
  else
    name_llama(map, spec, type);
  return map.take();
}

}  // namespace trireme
