// [model]: the shape of the network. From keys, a preset or a Hugging Face config.json; keys that are
// written win. Read by src/model/, which builds the Graph from a ModelSpec.
#pragma once
#include <string>

#include "config/field.h"
#include "config/moe.h"

namespace trireme {

// gpt2: LayerNorm, learned positions. llama: RMSNorm, rotary positions (also Qwen3's models and Mixtral).
// deepseek: a llama whose attention has its keys and values from a small latent vector.
enum class Family : uint8_t { gpt2, llama, deepseek };
// swiglu has a gate (three matrices), not in gpt2; the others are up, activation, down. relu2 is relu(x)^2.
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

// Multi-head latent attention (DeepSeek-V2, section 2.1). A head's query and key are nope_dim dims without
// positions, then rope_dim rotated ones, whose key part all heads share.
template <template <class> class As>
struct MlaKeys {
  As<int64_t> q_rank{};   // of the latent vector that queries are made of; 0: from the activation itself
  As<int64_t> kv_rank{};  // of the one that keys and values are made of
  As<int64_t> nope_dim{};
  As<int64_t> rope_dim{};
  As<int64_t> v_dim{};
  As<double> score_scale{};  // scores are multiplied by it, beside 1 / sqrt(nope_dim + rope_dim)
};

template <template <class> class As>
struct ModelKeys {
  As<Family> family{};
  As<int64_t> layers{};    // L
  As<int64_t> width{};     // C
  As<int64_t> heads{};     // H
  As<int64_t> kv_heads{};  // K, divides H
  As<int64_t> head_dim{};  // D; H * D need not be C; deepseek: nope_dim + rope_dim
  As<int64_t> ffn{};       // F
  As<int64_t> vocab{};     // V
  As<int64_t> context{};   // most tokens a sequence may have; gpt2's table of positions
  As<double> norm_eps{};
  As<bool> tie_embeddings{};  // the head uses the embedding's matrix
  As<Activation> activation{};
  As<bool> bias{};                     // on every linear but the head, and on gpt2's norms
  As<bool> qk_norm{};                  // llama: RMSNorm over D of each query and key head, before rope
  MlaKeys<As> mla{};                   // deepseek
  As<double> rope_theta{};             // not gpt2, where it resolves to 0
  RopeScalingKeys<As> rope_scaling{};  // likewise
  As<RopeLayout> rope_layout{};        // likewise
  As<int64_t> window{};                // a token sees itself and the window - 1 before it; 0: all before it
  As<double> attn_softcap{};           // scores become cap * tanh(score / cap); 0: off
  As<double> logit_softcap{};          // the same for logits
  As<double> init_std{};               // residual projections use init_std / sqrt(2 L)
  As<double> z_loss{};                 // coefficient of logsumexp^2 in the loss; 0: off
  As<int64_t> mtp{};                   // deepseek: further tokens that are predicted; 0 or 1
  As<double> mtp_weight{};             // of their loss
  MoeKeys<As> moe{};                   // the section [moe]
  // Weights to begin with in place of drawn ones: a run, a checkpoint, or what another project saved.
  std::optional<std::string> init_from;
};

using RopeScaling = RopeScalingKeys<Plain>;
using MlaSpec = MlaKeys<Plain>;
using ModelSpec = ModelKeys<Plain>;
struct RawModel : ModelKeys<Maybe> {
  std::optional<std::string> preset;  // a published shape to start from
  std::optional<std::string> hf;      // path of a config.json, or of the folder that holds it
};

}  // namespace trireme
