// config.json by nlohmann's parser, whose types and exceptions stop here. Every key of the file is either
// read, or required to have the one value that this engine computes, or known to be no matter of training;
// else refused.
#include "config/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace trireme {
namespace {

using nlohmann::json;

// Keys that say nothing about the function computed in training: ids of the tokenizer, settings of generation
// and of other tasks, and what the writer was.
const char* const kNoMatter[] = {"model_type",
                                 "architectures",
                                 "auto_map",
                                 "_name_or_path",
                                 "name_or_path",
                                 "_commit_hash",
                                 "transformers_version",
                                 "torch_dtype",
                                 "dtype",
                                 "use_cache",
                                 "bos_token_id",
                                 "eos_token_id",
                                 "pad_token_id",
                                 "sep_token_id",
                                 "decoder_start_token_id",
                                 "tokenizer_class",
                                 "prefix",
                                 "task_specific_params",
                                 "summary_activation",
                                 "summary_first_dropout",
                                 "summary_proj_to_labels",
                                 "summary_type",
                                 "summary_use_proj",
                                 "finetuning_task",
                                 "id2label",
                                 "label2id",
                                 "num_labels",
                                 "problem_type",
                                 "return_dict",
                                 "output_hidden_states",
                                 "output_attentions",
                                 "output_past",
                                 "torchscript",
                                 "use_bfloat16",
                                 "tf_legacy_loss",
                                 "chunk_size_feed_forward",
                                 "max_length",
                                 "min_length",
                                 "do_sample",
                                 "early_stopping",
                                 "num_beams",
                                 "num_beam_groups",
                                 "diversity_penalty",
                                 "temperature",
                                 "top_k",
                                 "top_p",
                                 "typical_p",
                                 "repetition_penalty",
                                 "length_penalty",
                                 "no_repeat_ngram_size",
                                 "encoder_no_repeat_ngram_size",
                                 "bad_words_ids",
                                 "num_return_sequences",
                                 "output_scores",
                                 "return_dict_in_generate",
                                 "forced_bos_token_id",
                                 "forced_eos_token_id",
                                 "remove_invalid_values",
                                 "exponential_decay_length_penalty",
                                 "suppress_tokens",
                                 "begin_suppress_tokens",
                                 "_attn_implementation_autoset",
                                 "attn_implementation",
                                 "_attn_implementation",
                                 "reorder_and_upcast_attn",
                                 "pretraining_tp",
                                 "decoder",
                                 "gradient_checkpointing"};

// The config.json under reading: which keys were looked at, and messages that name file, key and value.
class Reader {
 public:
  Reader(const json& object, std::string name, std::string prefix = "")
      : object_(object), name_(std::move(name)), prefix_(std::move(prefix)) {}

  // The value, or nullptr when the key is absent or null.
  const json* find(const std::string& key) {
    seen_.insert(key);
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& wrong) const {
    const auto it = object_.find(key);
    std::string value = it == object_.end() ? "" : it->dump(-1, ' ', false, json::error_handler_t::replace);
    if (value.size() > 200) value = value.substr(0, 200) + "...";
    fail_user("{}: {}{}{} {}", name_, prefix_, key, value.empty() ? "" : " = " + value, wrong);
  }

  std::optional<int64_t> integer(const std::string& key) {
    const json* v = find(key);
    if (v == nullptr) return std::nullopt;
    if (!v->is_number_integer() || (v->is_number_unsigned() && v->get<uint64_t>() > INT64_MAX))
      refuse(key, "is not a whole number");
    return v->get<int64_t>();
  }

  int64_t need_integer(const std::string& key) {
    const auto v = integer(key);
    if (!v) refuse(key, "is missing");
    return *v;
  }

  std::optional<double> number(const std::string& key) {
    const json* v = find(key);
    if (v == nullptr) return std::nullopt;
    if (!v->is_number() || !std::isfinite(v->get<double>())) refuse(key, "is not a finite number");
    return v->get<double>();
  }

  std::optional<bool> boolean(const std::string& key) {
    const json* v = find(key);
    if (v == nullptr) return std::nullopt;
    if (!v->is_boolean()) refuse(key, "is not true or false");
    return v->get<bool>();
  }

  std::optional<std::string> word(const std::string& key) {
    const json* v = find(key);
    if (v == nullptr) return std::nullopt;
    if (!v->is_string()) refuse(key, "is not a string");
    return v->get<std::string>();
  }

  // Absent and null are as good as `only`.
  void only_boolean(const std::string& key, bool only) {
    if (boolean(key).value_or(only) != only) refuse(key, fmt::format("is not supported; only {} is", only));
  }

  void only_number(const std::string& key, double only) {
    if (number(key).value_or(only) != only) refuse(key, fmt::format("is not supported; only {} is", only));
  }

  Reader inner(const std::string& key, const json& value) const {
    if (!value.is_object()) refuse(key, "is not an object");
    return Reader(value, name_, key + ".");
  }

  void refuse_the_rest() const {
    for (const auto& [key, value] : object_.items())
      if (seen_.count(key) == 0 && !value.is_null())
        refuse(key, "is not known here, so it may change what the model computes; remove it if it does not");
  }

 private:
  const json& object_;
  std::string name_, prefix_;
  std::set<std::string> seen_;
};

// Of the gate, whose function is silu, also called swish.
Activation gate_named(Reader& in, const std::string& key, const std::string& name) {
  if (name != "silu" && name != "swish") in.refuse(key, "is not supported; this family's gate is silu");
  return Activation::swiglu;
}

Activation activation_named(Reader& in, const std::string& key, const std::string& name) {
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "gelu") return Activation::gelu;
  if (name == "relu2") return Activation::relu2;
  in.refuse(key, "is not supported; gelu_new, gelu_pytorch_tanh, gelu and relu2 are");
}

// GPT-2 files state dropouts of 0.1, the default of their class, whatever they are used for; this engine has
// no dropout, and pre-training today uses none. So 0.1 there means "left alone"; any other rate was chosen,
// and is refused.
void check_gpt2_dropout(Reader& in, const std::string& key) {
  const double rate = in.number(key).value_or(0.0);
  if (rate != 0.0 && rate != 0.1) in.refuse(key, "is not supported: there is no dropout here; set it to 0");
}

RawModel read_gpt2(Reader& in) {
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

// rope_type and factors, from v4's rope_scaling or v5's rope_parameters.
void read_rope_scaling(Reader& in, RopeScalingKeys<Maybe>& out) {
  using enum RopeScalingKind;
  const auto old_name = in.word("type");
  const std::string type = in.word("rope_type").value_or(old_name.value_or("default"));
  if (old_name && *old_name != type) in.refuse("type", "differs from rope_type = " + type);
  in.only_number("partial_rotary_factor", 1.0);
  if (type == "default") {
    out.kind = none;
  } else if (type == "linear") {
    out.kind = linear;
  } else if (type == "yarn") {
    out.kind = yarn;
  } else if (type == "llama3") {
    out.kind = llama3;
  } else {
    in.refuse(in.find("rope_type") != nullptr ? "rope_type" : "type",
              "is not supported; default, linear, yarn and llama3 are");
  }
  const auto factor = in.number("factor");
  if (out.kind == none) return;
  if (!factor) in.refuse("factor", "is missing");
  out.factor = factor;
  if (out.kind == linear) return;
  out.original_context = in.integer("original_max_position_embeddings");
  if (out.kind == llama3) {
    out.low_freq_factor = in.number("low_freq_factor");
    out.high_freq_factor = in.number("high_freq_factor");
    if (!out.original_context) in.refuse("original_max_position_embeddings", "is missing");
    if (!out.low_freq_factor) in.refuse("low_freq_factor", "is missing");
    if (!out.high_freq_factor) in.refuse("high_freq_factor", "is missing");
    return;
  }
  out.beta_fast = in.number("beta_fast");
  out.beta_slow = in.number("beta_slow");
  out.attention_factor = in.number("attention_factor");
  in.only_boolean("truncate", true);
}

// transformers up to v4 writes rope_theta and rope_scaling, v5 rope_parameters; some files have both. Where
// the theta is in neither it is 10000, the default of the class.
void read_rope(Reader& in, RawModel& m) {
  const auto legacy_theta = in.number("rope_theta");
  const json* legacy = in.find("rope_scaling");
  const json* v5 = in.find("rope_parameters");
  m.rope_theta = legacy_theta.value_or(10000.0);
  m.rope_scaling.kind = RopeScalingKind::none;
  in.only_number("partial_rotary_factor", 1.0);
  if (legacy != nullptr) {
    Reader scaling = in.inner("rope_scaling", *legacy);
    if (const auto theta = scaling.number("rope_theta"); theta && legacy_theta && *theta != *legacy_theta)
      scaling.refuse("rope_theta", fmt::format("differs from rope_theta = {}", *legacy_theta));
    else if (theta)
      m.rope_theta = theta;
    read_rope_scaling(scaling, m.rope_scaling);
    scaling.refuse_the_rest();
  }
  if (v5 == nullptr) return;
  Reader parameters = in.inner("rope_parameters", *v5);
  const auto theta = parameters.number("rope_theta");
  if (theta && legacy_theta && *theta != *legacy_theta)
    parameters.refuse("rope_theta", fmt::format("differs from rope_theta = {}", *legacy_theta));
  if (!theta && !legacy_theta) parameters.refuse("rope_theta", "is missing");
  if (theta) m.rope_theta = theta;
  RopeScalingKeys<Maybe> scaling;
  read_rope_scaling(parameters, scaling);
  parameters.refuse_the_rest();
  if (legacy != nullptr && (scaling.kind != m.rope_scaling.kind || scaling.factor != m.rope_scaling.factor))
    in.refuse("rope_parameters", "does not agree with rope_scaling; remove one of them");
  m.rope_scaling = scaling;
}

// Qwen3 may give the layers from max_window_layers on, or the ones that layer_types lists, a sliding window.
// One window for all layers or none is what this engine has.
void read_window(Reader& in, RawModel& m) {
  const auto window = in.integer("sliding_window");
  const bool use = in.boolean("use_sliding_window").value_or(false);
  const int64_t first = in.integer("max_window_layers").value_or(*m.layers);
  int64_t windowed =
      use && window ? std::clamp<int64_t>(*m.layers - std::max<int64_t>(first, 0), 0, *m.layers) : 0;
  if (const json* types = in.find("layer_types")) {
    if (!types->is_array() || static_cast<int64_t>(types->size()) != *m.layers)
      in.refuse("layer_types", fmt::format("is not a list of {} layers", *m.layers));
    windowed = 0;
    for (const json& type : *types) {
      if (type != "full_attention" && type != "sliding_attention")
        in.refuse("layer_types", "is not supported; full_attention and sliding_attention are");
      windowed += type == "sliding_attention" ? 1 : 0;
    }
  }
  if (windowed == 0) return;
  if (windowed != *m.layers)
    in.refuse(in.find("layer_types") != nullptr ? "layer_types" : "max_window_layers",
              fmt::format("gives {} of {} layers a sliding window; only all or none is supported", windowed,
                          *m.layers));
  if (!window || *window < 1) in.refuse("sliding_window", "is not a window of at least 1 token");
  m.window = window;
}

void check_biases(Reader& in, RawModel& m) {
  const bool attention = in.boolean("attention_bias").value_or(false);
  const bool mlp = in.boolean("mlp_bias").value_or(false);
  if (attention != mlp)
    in.refuse(attention ? "attention_bias" : "mlp_bias",
              "is not supported alone: attention and feed-forward have biases both or not at all");
  m.bias = attention;
}

enum class LlamaKind : uint8_t { llama, qwen3 };

RawModel read_llama(Reader& in, LlamaKind kind) {
  const bool qwen3 = kind == LlamaKind::qwen3;
  RawModel m;
  m.family = Family::llama;
  m.layers = in.need_integer("num_hidden_layers");
  m.width = in.need_integer("hidden_size");
  m.heads = in.need_integer("num_attention_heads");
  m.kv_heads = in.integer("num_key_value_heads");
  m.head_dim = qwen3 ? in.need_integer("head_dim") : in.integer("head_dim");
  m.ffn = in.need_integer("intermediate_size");
  m.vocab = in.need_integer("vocab_size");
  m.context = in.need_integer("max_position_embeddings");
  if (*m.layers < 1) in.refuse("num_hidden_layers", "must be at least 1");
  m.activation = gate_named(in, "hidden_act", in.word("hidden_act").value_or("silu"));
  m.norm_eps = in.number("rms_norm_eps").value_or(1e-6);
  m.init_std = in.number("initializer_range");
  m.tie_embeddings = in.boolean("tie_word_embeddings").value_or(false);
  m.qk_norm = qwen3;
  m.rope_layout = RopeLayout::half;
  if (in.number("attention_dropout").value_or(0.0) != 0.0)
    in.refuse("attention_dropout", "is not supported: there is no dropout here; set it to 0");
  check_biases(in, m);
  read_rope(in, m);
  auto& scaling = m.rope_scaling;  // without a key for it, transformers takes yarn's frequencies as made for
                                   // the whole context
  if (scaling.kind == RopeScalingKind::yarn && !scaling.original_context)
    scaling.original_context = m.context;
  if (qwen3) read_window(in, m);
  return m;
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

  Reader in(object, name);
  for (const char* key : kNoMatter) in.find(key);
  in.only_boolean("is_encoder_decoder", false);
  in.only_boolean("is_decoder", false);
  in.only_boolean("add_cross_attention", false);
  in.only_boolean("tie_encoder_decoder", false);
  if (const json* pruned = in.find("pruned_heads"); pruned != nullptr && !pruned->empty())
    in.refuse("pruned_heads", "is not supported");
  const auto type = in.word("model_type");
  if (!type) in.refuse("model_type", "is missing; gpt2, llama and qwen3 are supported");
  if (*type != "gpt2" && *type != "llama" && *type != "qwen3")
    in.refuse("model_type", "is not supported; gpt2, llama and qwen3 are");
  RawModel model = *type == "gpt2"    ? read_gpt2(in)
                   : *type == "llama" ? read_llama(in, LlamaKind::llama)
                                      : read_llama(in, LlamaKind::qwen3);
  in.refuse_the_rest();
  return model;
}

}  // namespace trireme
