// What all types have, GPT-2, and the dense ones.
#include "exchange/hf_config_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "exchange/hf_config_keys.h"

namespace trireme {
namespace {

using nlohmann::json;

const char* architecture(HfType type) {
  constexpr const char* kNames[] = {"GPT2LMHeadModel",    "LlamaForCausalLM",    "Qwen3ForCausalLM",
                                    "MixtralForCausalLM", "Qwen3MoeForCausalLM", "DeepseekV3ForCausalLM"};
  return kNames[static_cast<size_t>(type)];
}

void refuse_what_no_type_has(const ModelSpec& spec, HfType type) {
  const std::string where = architecture(type);
  if (spec.attn_softcap != 0)
    refuse_key("model.attn_softcap", fmt::format("{}", spec.attn_softcap), where, "use 0");
  if (spec.logit_softcap != 0)
    refuse_key("model.logit_softcap", fmt::format("{}", spec.logit_softcap), where, "use 0");
  const bool windowed = type == HfType::qwen3 || type == HfType::qwen3_moe || type == HfType::mixtral;
  if (spec.window != 0 && !windowed)
    refuse_key("model.window", std::to_string(spec.window), where,
               "use 0; Qwen3 (model.qk_norm = true) and Mixtral have one");
}

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu_tanh:
      return "gelu_new";
    case Activation::gelu:
      return "gelu";
    case Activation::relu2:
      return "relu2";
    case Activation::swiglu:
      break;
  }
  CHECK(false, "gpt2 has no gate");
}

void put_gpt2(json& out, const ModelSpec& spec) {
  out["n_layer"] = spec.layers;
  out["n_embd"] = spec.width;
  out["n_head"] = spec.heads;
  out["n_positions"] = out["n_ctx"] = spec.context;
  out["n_inner"] = spec.ffn;
  out["activation_function"] = activation_name(spec.activation);
  out["layer_norm_epsilon"] = spec.norm_eps;
  out["resid_pdrop"] = out["embd_pdrop"] = out["attn_pdrop"] = 0.0;
  out["scale_attn_weights"] = true;
  out["scale_attn_by_inverse_layer_idx"] = out["reorder_and_upcast_attn"] = false;
}

void put_gated(json& out, const ModelSpec& spec) {
  out["num_hidden_layers"] = spec.layers;
  out["hidden_size"] = spec.width;
  out["num_attention_heads"] = spec.heads;
  out["num_key_value_heads"] = spec.kv_heads;
  out["head_dim"] = spec.head_dim;
  out["intermediate_size"] = spec.ffn;
  out["max_position_embeddings"] = spec.context;
  out["hidden_act"] = "silu";
  out["rms_norm_eps"] = spec.norm_eps;
  out["attention_bias"] = spec.bias;
  out["attention_dropout"] = 0.0;
  put_rope(out, spec);
}

// All layers or none. max_window_layers counts the ones without it.
void put_window(json& out, const ModelSpec& spec, HfType type) {
  const bool on = spec.window != 0;
  out["use_sliding_window"] = on;
  out["sliding_window"] = on ? json(spec.window) : json(nullptr);
  out["max_window_layers"] = on ? 0 : spec.layers;
  if (type == HfType::qwen3)
    out["layer_types"] = std::vector<std::string>(static_cast<size_t>(spec.layers),
                                                  on ? "sliding_attention" : "full_attention");
}

void put_type(json& out, const ModelSpec& spec, HfType type) {
  if (type == HfType::gpt2) return put_gpt2(out, spec);
  put_gated(out, spec);
  switch (type) {
    case HfType::llama:
      out["mlp_bias"] = spec.bias;
      out["pretraining_tp"] = 1;
      return;
    case HfType::qwen3:
      return put_window(out, spec, type);
    case HfType::mixtral:
      return put_mixtral(out, spec);
    case HfType::qwen3_moe:
      put_window(out, spec, type);
      return put_qwen3_moe(out, spec);
    default:
      return put_deepseek(out, spec);
  }
}

}  // namespace

void refuse_key(const std::string& key, const std::string& value, const std::string& where,
                const std::string& cure) {
  fail_user("{} = {} has no form in transformers' {}; {}", key, value, where, cure);
}

HfConfigText hf_config_text(const ModelSpec& spec, DType dtype, std::optional<int64_t> end_of_text) {
  const HfType type = hf_type(spec);
  refuse_what_no_type_has(spec, type);
  const json end = end_of_text ? json(*end_of_text) : json(nullptr);
  json out;
  out["model_type"] = hf_type_name(type);
  out["architectures"] = {architecture(type)};
  out["torch_dtype"] = out["dtype"] = dtype == DType::bf16 ? "bfloat16" : "float32";
  out["vocab_size"] = spec.vocab;
  out["tie_word_embeddings"] = spec.tie_embeddings;
  out["initializer_range"] = spec.init_std;
  out["use_cache"] = true;
  out["bos_token_id"] = out["eos_token_id"] = end;
  out["pad_token_id"] = nullptr;
  put_type(out, spec, type);
  json generation;
  generation["_from_model_config"] = true;
  if (end_of_text) generation["bos_token_id"] = generation["eos_token_id"] = end;
  return {out.dump(2) + "\n", generation.dump(2) + "\n"};
}

}  // namespace trireme
