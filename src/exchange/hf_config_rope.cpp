// Rotary positions in the keys of transformers v4 and v5. DeepSeek's stretch of its scores stands among them.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "exchange/hf_config_keys.h"

namespace trireme {
namespace {

using nlohmann::json;

// yarn's stretch, as transformers and DeepSeek compute it from mscale and mscale_all_dim.
double stretch(double factor, double by) { return 0.1 * by * std::log(factor) + 1.0; }

// The mscale_all_dim whose stretch, squared, is the scale of the scores: to the last bit where there is one.
double all_dims_of(double factor, double scale) {
  const double near = (std::sqrt(scale) - 1.0) / (0.1 * std::log(factor));
  const double round = std::round(near * 1e6) / 1e6;
  for (const double x : std::array{round, near, std::nextafter(near, 2 * near), std::nextafter(near, 0.0)})
    if (stretch(factor, x) * stretch(factor, x) == scale) return x;
  return near;
}

void put_mscale(json& out, const ModelSpec& spec) {
  const double factor = spec.rope_scaling.factor, scale = spec.mla.score_scale;
  if (factor <= 1) {
    if (scale != 1)
      refuse_key("model.mla.score_scale", fmt::format("{}", scale), "DeepseekV3ForCausalLM without a stretch",
                 "use 1, or a rope_scaling.factor above 1");
    return;
  }
  const double all_dims = all_dims_of(factor, scale);
  const double wanted = spec.rope_scaling.attention_factor * stretch(factor, all_dims);
  const double mscale = (wanted - 1.0) / (0.1 * std::log(factor));
  out["mscale"] = std::abs(mscale - all_dims) < 1e-12 ? all_dims : mscale;
  out["mscale_all_dim"] = all_dims;
}

json scaling_keys(const ModelSpec& spec) {
  using enum RopeScalingKind;
  const RopeScaling& scaling = spec.rope_scaling;
  json out;
  if (spec.family == Family::deepseek && scaling.kind != yarn && spec.mla.score_scale != 1)
    refuse_key("model.mla.score_scale", fmt::format("{}", spec.mla.score_scale),
               "DeepseekV3ForCausalLM without yarn", "use 1");
  if (scaling.kind == none) return {{"rope_type", "default"}};
  if (scaling.kind == ntk) {
    const double dims =
        static_cast<double>(spec.family == Family::deepseek ? spec.mla.rope_dim : spec.head_dim);
    refuse_key("model.rope_scaling.kind", "ntk", "models",
               fmt::format("the same frequencies are kind = none with model.rope_theta = {}",
                           spec.rope_theta * std::pow(scaling.factor, dims / (dims - 2))));
  }
  out["rope_type"] = name_of_value(scaling.kind);
  out["factor"] = scaling.factor;
  if (scaling.kind == linear) return out;
  out["original_max_position_embeddings"] = scaling.original_context;
  if (scaling.kind == llama3) {
    out["low_freq_factor"] = scaling.low_freq_factor;
    out["high_freq_factor"] = scaling.high_freq_factor;
    return out;
  }
  out["beta_fast"] = scaling.beta_fast;
  out["beta_slow"] = scaling.beta_slow;
  out["attention_factor"] = scaling.attention_factor;
  if (spec.family == Family::deepseek) put_mscale(out, spec);
  return out;
}

}  // namespace

void put_rope(json& out, const ModelSpec& spec) {
  const json scaling = scaling_keys(spec);
  out["rope_theta"] = spec.rope_theta;
  out["rope_scaling"] = spec.rope_scaling.kind == RopeScalingKind::none ? json(nullptr) : scaling;
  out["rope_parameters"] = scaling;
  out["rope_parameters"]["rope_theta"] = spec.rope_theta;
}

}  // namespace trireme
