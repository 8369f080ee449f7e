// Model types with experts.
#include <fmt/format.h>

#include "exchange/hf_config_keys.h"

namespace trireme {
namespace {

using nlohmann::json;

// Softmax over all and division by the sum of the chosen is the softmax over the chosen.
bool weights_add_up(const MoeSpec& moe) { return moe.normalize || moe.softmax_order == SoftmaxOrder::after; }

void require_no_scale(const ModelSpec& spec, const char* where) {
  if (spec.moe.scale != 1) refuse_key("moe.scale", fmt::format("{}", spec.moe.scale), where, "use 1");
}

}  // namespace

void put_mixtral(json& out, const ModelSpec& spec) {
  const MoeSpec& moe = spec.moe;
  require_no_scale(spec, "MixtralForCausalLM");
  if (!weights_add_up(moe))
    refuse_key("moe.normalize", "false", "MixtralForCausalLM",
               "use true, or model.qk_norm = true, which makes it a Qwen3-MoE");
  out.erase("attention_bias");
  out["intermediate_size"] = moe.expert_ffn;
  out["sliding_window"] = spec.window != 0 ? json(spec.window) : json(nullptr);
  out["num_local_experts"] = moe.experts;
  out["num_experts_per_tok"] = moe.top_k;
  out["router_aux_loss_coef"] = moe.aux_loss;
  out["router_jitter_noise"] = 0.0;
  out["output_router_logits"] = false;
}

void put_qwen3_moe(json& out, const ModelSpec& spec) {
  const MoeSpec& moe = spec.moe;
  require_no_scale(spec, "Qwen3MoeForCausalLM");
  if (moe.every > 1 && moe.first_dense > 0)
    refuse_key("moe.every", std::to_string(moe.every),
               fmt::format("Qwen3MoeForCausalLM together with moe.first_dense = {}", moe.first_dense),
               "use 1, or moe.first_dense = 0");
  out["num_experts"] = out["num_local_experts"] = moe.experts;
  out["num_experts_per_tok"] = moe.top_k;
  out["moe_intermediate_size"] = moe.expert_ffn;
  out["norm_topk_prob"] = weights_add_up(moe);
  out["decoder_sparse_step"] = moe.every;
  out["mlp_only_layers"] = json::array();
  for (int64_t n = 0; n < moe.first_dense; ++n) out["mlp_only_layers"].push_back(n);
  out["router_aux_loss_coef"] = moe.aux_loss;
  out["output_router_logits"] = false;
}

void put_deepseek(json& out, const ModelSpec& spec) {
  const MoeSpec& moe = spec.moe;
  const MlaSpec& mla = spec.mla;
  if (spec.norm_eps != 1e-6)
    refuse_key("model.norm_eps", fmt::format("{}", spec.norm_eps),
               "DeepseekV3ForCausalLM, whose norms of the latent vectors have 1e-6", "use 1e-6");
  out["head_dim"] = out["qk_rope_head_dim"] = mla.rope_dim;
  out["qk_nope_head_dim"] = mla.nope_dim;
  out["qk_head_dim"] = mla.nope_dim + mla.rope_dim;
  out["v_head_dim"] = mla.v_dim;
  out["q_lora_rank"] = mla.q_rank == 0 ? json(nullptr) : json(mla.q_rank);
  out["kv_lora_rank"] = mla.kv_rank;
  out["rope_interleave"] = true;
  out["n_routed_experts"] = moe.experts;
  out["n_shared_experts"] = moe.shared_ffn / moe.expert_ffn;
  out["num_experts_per_tok"] = moe.top_k;
  out["moe_intermediate_size"] = moe.expert_ffn;
  out["first_k_dense_replace"] = moe.first_dense;
  out["moe_layer_freq"] = 1;
  out["n_group"] = moe.groups;
  out["topk_group"] = moe.top_groups;
  out["norm_topk_prob"] = moe.normalize;
  out["routed_scaling_factor"] = moe.scale;
  out["scoring_func"] = "sigmoid";
  out["topk_method"] = "noaux_tc";
  out["num_nextn_predict_layers"] = spec.mtp;
}

}  // namespace trireme
