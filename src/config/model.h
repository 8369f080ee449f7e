// [model]: the shape of the network. From keys, a preset or a Hugging Face config.json; keys that are
// written win. Read by src/model/, which builds the Graph from a ModelSpec.
#pragma once
#include <string>

#include "config/field.h"

namespace trireme {

// gpt2: LayerNorm, learned positions. llama: RMSNorm, rotary positions (also Qwen3's dense models).
enum class Family : uint8_t { gpt2, llama };
// swiglu has a gate (three matrices), llama only; the others are up, activation, down. relu2 is relu(x)^2.
enum class Activation : uint8_t { gelu_tanh, gelu, relu2, swiglu };
enum class RopeScalingKind : uint8_t { none, linear, ntk, yarn, llama3 };
// half: dim d is paired with d + D/2 (Hugging Face weights); interleaved: 2d with 2d + 1 (Meta weights).
enum class RopeLayout : uint8_t { half, interleaved };

std::span<const std::string_view> names_of_values(Family);
std::span<const std::string_view> names_of_values(Activation);
std::span<const std::string_view> names_of_values(RopeScalingKind);
std::span<const std::string_view> names_of_values(RopeLayout);

// How rotary frequencies are stretched beyond the context they were made for. Keys that the kind does
// not use are refused when written and 0 when resolved.
template <template <class> class As>
struct RopeScalingKeys {
  As<RopeScalingKind> kind{};
  As<double> factor{};             // linear, ntk, yarn, llama3: how many times longer, >= 1
  As<double> low_freq_factor{};    // llama3: wavelengths above original_context / this are stretched fully
  As<double> high_freq_factor{};   // llama3: wavelengths below original_context / this are left alone
  As<int64_t> original_context{};  // yarn, llama3: tokens the frequencies were made for
  As<double> beta_fast{};          // yarn: rotations over original_context above which a dim is left alone
  As<double> beta_slow{};          // yarn: rotations below which a dim is stretched fully
  As<double> attention_factor{};   // yarn: cos and sin are multiplied by this
};

template <template <class> class As>
struct ModelKeys {
  As<Family> family{};
  As<int64_t> layers{};    // L
  As<int64_t> width{};     // C
  As<int64_t> heads{};     // H
  As<int64_t> kv_heads{};  // K, divides H
  As<int64_t> head_dim{};  // D; H * D need not be C
  As<int64_t> ffn{};       // F
  As<int64_t> vocab{};     // V
  As<int64_t> context{};   // most tokens a sequence may have; gpt2's table of positions
  As<double> norm_eps{};
  As<bool> tie_embeddings{};  // the head uses the embedding's matrix
  As<Activation> activation{};
  As<bool> bias{};                     // on every linear but the head, and on gpt2's norms
  As<bool> qk_norm{};                  // llama: RMSNorm over D of each query and key head, before rope
  As<double> rope_theta{};             // llama; 0 in a resolved gpt2
  RopeScalingKeys<As> rope_scaling{};  // llama
  As<RopeLayout> rope_layout{};        // llama
  As<int64_t> window{};                // a token sees itself and the window - 1 before it; 0: all before it
  As<double> attn_softcap{};           // scores become cap * tanh(score / cap); 0: off
  As<double> logit_softcap{};          // the same for logits
  As<double> init_std{};               // residual projections use init_std / sqrt(2 L)
  As<double> z_loss{};                 // coefficient of logsumexp^2 in the loss; 0: off
};

using RopeScaling = RopeScalingKeys<Plain>;
using ModelSpec = ModelKeys<Plain>;
struct RawModel : ModelKeys<Maybe> {
  std::optional<std::string> preset;  // a published shape to start from
  std::optional<std::string> hf;      // path of a config.json, or of the folder that holds it
};

}  // namespace trireme
