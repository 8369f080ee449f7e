// Shape, rotary positions and window.
#include "config/hf_config_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme {
namespace {

// Of the gate, whose function is silu, also called swish.
Activation gate_named(HfReader& in, const std::string& key, const std::string& name) {
  if (name != "silu" && name != "swish") in.refuse(key, "is not supported; this family's gate is silu");
  return Activation::swiglu;
}

// DeepSeek's yarn: cosines and sines by the quotient of two stretches, and its scores by the square of the
// second, where other families know only the first.
void read_mscale(HfReader& in, double factor, RawModel& m) {
  const double mscale = in.number("mscale").value_or(0), all_dims = in.number("mscale_all_dim").value_or(0);
  const auto stretch = [&](double by) { return factor <= 1 ? 1.0 : 0.1 * by * std::log(factor) + 1.0; };
  auto& attention_factor = m.rope_scaling.attention_factor;
  if (!attention_factor && mscale != 0 && all_dims != 0)
    attention_factor = stretch(mscale) / stretch(all_dims);
  if (m.family != Family::deepseek) return;
  if (!attention_factor) attention_factor = stretch(1);
  m.mla.score_scale = all_dims != 0 ? stretch(all_dims) * stretch(all_dims) : 1.0;
}

// rope_type and factors, from v4's rope_scaling or v5's rope_parameters.
void read_rope_scaling(HfReader& in, RawModel& m) {
  using enum RopeScalingKind;
  auto& out = m.rope_scaling;
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
  read_mscale(in, *factor, m);
  in.only_boolean("truncate", true);
}

}  // namespace

// transformers up to v4 writes rope_theta and rope_scaling, v5 rope_parameters; some files have both. Where
// the theta is in neither it is 10000, the default of the class.
void read_hf_rope(HfReader& in, RawModel& m) {
  const auto legacy_theta = in.number("rope_theta");
  const HfReader::Json* legacy = in.find("rope_scaling");
  const HfReader::Json* v5 = in.find("rope_parameters");
  m.rope_theta = legacy_theta.value_or(10000.0);
  m.rope_scaling.kind = RopeScalingKind::none;
  in.only_number("partial_rotary_factor", 1.0);
  if (legacy != nullptr) {
    HfReader scaling = in.inner("rope_scaling", *legacy);
    if (const auto theta = scaling.number("rope_theta"); theta && legacy_theta && *theta != *legacy_theta)
      scaling.refuse("rope_theta", fmt::format("differs from rope_theta = {}", *legacy_theta));
    else if (theta)
      m.rope_theta = theta;
    read_rope_scaling(scaling, m);
    scaling.refuse_the_rest();
  }
  if (v5 == nullptr) return;
  HfReader parameters = in.inner("rope_parameters", *v5);
  const auto theta = parameters.number("rope_theta");
  if (theta && legacy_theta && *theta != *legacy_theta)
    parameters.refuse("rope_theta", fmt::format("differs from rope_theta = {}", *legacy_theta));
  if (!theta && !legacy_theta) parameters.refuse("rope_theta", "is missing");
  if (theta) m.rope_theta = theta;
  const RopeScalingKeys<Maybe> before = m.rope_scaling;
  m.rope_scaling = {};
  read_rope_scaling(parameters, m);
  parameters.refuse_the_rest();
  if (legacy != nullptr && (before.kind != m.rope_scaling.kind || before.factor != m.rope_scaling.factor))
    in.refuse("rope_parameters", "does not agree with rope_scaling; remove one of them");
}

// Qwen3 may give the layers from max_window_layers on, or the ones that layer_types lists, a sliding window.
// One window for all layers or none is what this engine has.
void read_hf_window(HfReader& in, RawModel& m) {
  const auto window = in.integer("sliding_window");
  const bool use = in.boolean("use_sliding_window").value_or(false);
  const int64_t first = in.integer("max_window_layers").value_or(*m.layers);
  int64_t windowed =
      use && window ? std::clamp<int64_t>(*m.layers - std::max<int64_t>(first, 0), 0, *m.layers) : 0;
  if (const HfReader::Json* types = in.find("layer_types")) {
    if (!types->is_array() || static_cast<int64_t>(types->size()) != *m.layers)
      in.refuse("layer_types", fmt::format("is not a list of {} layers", *m.layers));
    windowed = 0;
    for (const HfReader::Json& type : *types) {
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

void read_hf_gated_shape(HfReader& in, RawModel& m) {
  m.layers = in.need_integer("num_hidden_layers");
  m.width = in.need_integer("hidden_size");
  m.heads = in.need_integer("num_attention_heads");
  m.kv_heads = in.integer("num_key_value_heads");
  m.ffn = in.need_integer("intermediate_size");
  m.vocab = in.need_integer("vocab_size");
  m.context = in.need_integer("max_position_embeddings");
  if (*m.layers < 1) in.refuse("num_hidden_layers", "must be at least 1");
  m.activation = gate_named(in, "hidden_act", in.word("hidden_act").value_or("silu"));
  m.init_std = in.number("initializer_range");
  m.tie_embeddings = in.boolean("tie_word_embeddings").value_or(false);
  if (in.number("attention_dropout").value_or(0.0) != 0.0)
    in.refuse("attention_dropout", "is not supported: there is no dropout here; set it to 0");
  read_hf_rope(in, m);
  auto& scaling = m.rope_scaling;  // without a key for it, transformers takes yarn's frequencies as made for
                                   // the whole context
  if (scaling.kind == RopeScalingKind::yarn && !scaling.original_context)
    scaling.original_context = m.context;
}

}  // namespace trireme
