// config.json by nlohmann's parser, whose types and exceptions stop here. Every key of the file is either
// read, or required to have the one value that this engine computes, or known to be no matter of training;
// else refused.
#include "config/hf_config.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "config/hf_config_parts.h"

namespace trireme {
namespace {

using nlohmann::json;

Activation activation_named(HfReader& in, const std::string& key, const std::string& name) {
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "gelu") return Activation::gelu;
  if (name == "relu2") return Activation::relu2;
  in.refuse(key, "is not supported; gelu_new, gelu_pytorch_tanh, gelu and relu2 are");
}

// GPT-2 files state dropouts of 0.1, the default of their class, whatever they are used for; this engine has
// no dropout, and pre-training today uses none. So 0.1 there means "left alone"; any other rate was chosen,
// and is refused.
void check_gpt2_dropout(HfReader& in, const std::string& key) {
  const double rate = in.number(key).value_or(0.0);
  if (rate != 0.0 && rate != 0.1) in.refuse(key, "is not supported: there is no dropout here; set it to 0");
}

RawModel read_gpt2(HfReader& in) {
  RawModel m;
  m.family = Family::gpt2;
  m.layers = in.need_integer("n_layer");
  m.width = in.need_integer("n_embd");
  m.heads = in.need_integer("n_head");
  m.vocab = in.need_integer("vocab_size");
  m.context = in.need_integer("n_positions");
  if (in.integer("n_ctx").value_or(*m.context) != *m.context)
    in.refuse("n_ctx", fmt::format("differs from n_positions = {}", *m.context));
  m.ffn = in.integer("n_inner");
  m.activation =
      activation_named(in, "activation_function", in.word("activation_function").value_or("gelu_new"));
  m.norm_eps = in.number("layer_norm_epsilon");
  m.init_std = in.number("initializer_range");
  m.tie_embeddings = in.boolean("tie_word_embeddings").value_or(true);
  for (const char* key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) check_gpt2_dropout(in, key);
  in.only_boolean("scale_attn_weights", true);
  in.only_boolean("scale_attn_by_inverse_layer_idx", false);
  return m;
}

void check_biases(HfReader& in, RawModel& m) {
  const bool attention = in.boolean("attention_bias").value_or(false);
  const bool mlp = in.boolean("mlp_bias").value_or(false);
  if (attention != mlp)
    in.refuse(attention ? "attention_bias" : "mlp_bias",
              "is not supported alone: attention and feed-forward have biases both or not at all");
  m.bias = attention;
}

enum class LlamaKind : uint8_t { llama, qwen3 };

RawModel read_llama(HfReader& in, LlamaKind kind) {
  const bool qwen3 = kind == LlamaKind::qwen3;
  RawModel m;
  m.family = Family::llama;
  read_hf_gated_shape(in, m);
  m.head_dim = qwen3 ? in.need_integer("head_dim") : in.integer("head_dim");
  m.norm_eps = in.number("rms_norm_eps").value_or(1e-6);
  m.qk_norm = qwen3;
  m.rope_layout = RopeLayout::half;
  check_biases(in, m);
  if (qwen3) read_hf_window(in, m);
  return m;
}

RawModel read_qwen3(HfReader& in) { return read_llama(in, LlamaKind::qwen3); }
RawModel read_plain_llama(HfReader& in) { return read_llama(in, LlamaKind::llama); }

struct ModelType {
  const char* name;
  RawModel (*read)(HfReader& in);
};
constexpr std::array kModelTypes = {ModelType{"gpt2", read_gpt2},
                                    ModelType{"llama", read_plain_llama},
                                    ModelType{"qwen3", read_qwen3},
                                    ModelType{"mixtral", read_hf_mixtral},
                                    ModelType{"qwen3_moe", read_hf_qwen3_moe},
                                    ModelType{"deepseek_v3", read_hf_deepseek_v3}};

std::string names_of_types() {
  std::string names;
  for (size_t i = 0; i < kModelTypes.size(); ++i)
    names += std::string(i == 0 ? "" : i + 1 == kModelTypes.size() ? " and " : ", ") + kModelTypes[i].name;
  return names;
}

RawModel read_model(HfReader& in) {
  const auto type = in.word("model_type");
  if (!type) in.refuse("model_type", fmt::format("is missing; {} are supported", names_of_types()));
  for (const ModelType& known : kModelTypes)
    if (*type == known.name) return known.read(in);
  in.refuse("model_type", fmt::format("is not supported; {} are", names_of_types()));
}

}  // namespace

RawModel parse_hf_config(const std::string& text, const std::string& name) {
  // The parser is recursive where values are freed, and no config nests deeply.
  if (text.size() > (1 << 20)) fail_user("{}: {} bytes are too many for a config.json", name, text.size());
  int depth = 0;
  const auto depth_limit = [&](int, json::parse_event_t event, json&) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) ++depth;
    if (event == Event::object_end || event == Event::array_end) --depth;
    if (depth > 100) fail_user("{}: nested more than 100 deep, so not a config.json", name);
    return true;
  };
  json object;
  try {
    object = json::parse(text, depth_limit);
  } catch (const json::exception& error) {
    fail_user("{}: not JSON: {}", name, error.what());
  }
  if (!object.is_object()) fail_user("{}: not a JSON object", name);

  HfReader in(object, name);
  in.pass_over_what_does_not_matter();
  in.only_boolean("is_encoder_decoder", false);
  in.only_boolean("is_decoder", false);
  in.only_boolean("add_cross_attention", false);
  in.only_boolean("tie_encoder_decoder", false);
  if (const json* pruned = in.find("pruned_heads"); pruned != nullptr && !pruned->empty())
    in.refuse("pruned_heads", "is not supported");
  RawModel model = read_model(in);
  in.refuse_the_rest();
  return model;
}

}  // namespace trireme
