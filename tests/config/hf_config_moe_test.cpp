// config.json of model types with experts, as transformers writes them and as released, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hf_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

const std::string kShape =
    R"("num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 160,
  "vocab_size": 101, "max_position_embeddings": 256, "num_experts_per_tok": 2)";
const std::string kMixtral = R"({"model_type": "mixtral", "num_local_experts": 4, )" + kShape;
const std::string kQwen3Moe =
    R"({"model_type": "qwen3_moe", "num_experts": 8, "head_dim": 32, "moe_intermediate_size": 24, )" + kShape;
const std::string kDeepseek =
    R"({"model_type": "deepseek_v3", "n_routed_experts": 8, "moe_intermediate_size": 24, "kv_lora_rank": 16,
  "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, )" +
    kShape;

TEST(HfConfigMoe, MixtralAsWritten) {
  const ModelSpec m = from_golden("hf_mixtral");
  EXPECT_EQ(m.family, Family::llama);
  EXPECT_EQ(m.head_dim, 16);
  EXPECT_EQ(m.norm_eps, 1e-5);
  EXPECT_EQ(m.moe.experts, 4);
  EXPECT_EQ(m.moe.top_k, 2);
  EXPECT_EQ(m.moe.expert_ffn, 96);
  EXPECT_EQ(m.moe.shared_ffn, 0);
  EXPECT_EQ(m.moe.score, RouterScore::softmax);
  EXPECT_EQ(m.moe.softmax_order, SoftmaxOrder::after);
  EXPECT_EQ(m.moe.aux_loss, 0.02);
  EXPECT_EQ(m.moe.balance_rate, 0.0);
}

TEST(HfConfigMoe, Qwen3MoeAsWritten) {
  const ModelSpec m = from_golden("hf_qwen3_moe");
  EXPECT_TRUE(m.qk_norm);
  EXPECT_EQ(m.moe.experts, 8);
  EXPECT_EQ(m.moe.top_k, 3);
  EXPECT_EQ(m.moe.expert_ffn, 24);
  EXPECT_EQ(m.ffn, 96);
  EXPECT_EQ(m.moe.first_dense, 1);
  EXPECT_EQ(m.moe.every, 1);
  EXPECT_EQ(m.moe.softmax_order, SoftmaxOrder::before);
  EXPECT_TRUE(m.moe.normalize);
}

TEST(HfConfigMoe, DeepseekV3AsWritten) {
  const ModelSpec m = from_golden("hf_deepseek_v3");
  EXPECT_EQ(m.family, Family::deepseek);
  EXPECT_EQ(m.head_dim, 24);
  EXPECT_EQ(m.kv_heads, 4);
  EXPECT_EQ(m.mla.q_rank, 24);
  EXPECT_EQ(m.mla.kv_rank, 16);
  EXPECT_EQ(m.mla.v_dim, 16);
  EXPECT_EQ(m.rope_layout, RopeLayout::interleaved);
  EXPECT_EQ(m.rope_scaling.attention_factor, 1.0);
  EXPECT_NEAR(m.mla.score_scale, std::pow(0.1 * std::log(40.0) + 1, 2), 1e-12);
  EXPECT_EQ(m.moe.score, RouterScore::sigmoid);
  EXPECT_EQ(m.moe.groups, 4);
  EXPECT_EQ(m.moe.top_groups, 2);
  EXPECT_EQ(m.moe.shared_ffn, 48);
  EXPECT_EQ(m.moe.first_dense, 1);
  EXPECT_EQ(m.moe.scale, 2.5);
  EXPECT_EQ(m.moe.balance_rate, 0.001);
  EXPECT_EQ(m.moe.aux_loss, 0.0);
  EXPECT_EQ(m.mtp, 1);
}

// The config.json of DeepSeek-V3's release, all its keys.
TEST(HfConfigMoe, DeepseekV3AsReleasedIsThePreset) {
  const RawModel m = parse_hf_config(
      R"({"architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"}, "bos_token_id": 0, "eos_token_id": 1,
  "ep_size": 1, "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168, "initializer_range": 0.02,
  "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v3",
  "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1,
  "norm_topk_prob": true, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
  "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
  "qk_rope_head_dim": 64, "quantization_config": {"quant_method": "fp8"}, "rms_norm_eps": 1e-06,
  "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                   "original_max_position_embeddings": 4096, "type": "yarn"},
  "rope_theta": 10000, "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "tie_word_embeddings": false,
  "topk_group": 4, "topk_method": "noaux_tc", "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
  "use_cache": true, "v_head_dim": 128, "vocab_size": 129280})",
      "config.json");
  const std::string rest = kBase.substr(kBase.find("[data]"));
  const RunSpec preset = parse_config(rest, "a.toml", {"model.preset=deepseek-v3", "data.seq_len=16"});
  EXPECT_EQ(m.mla.score_scale, preset.model.mla.score_scale);
  EXPECT_EQ(m.layers, preset.model.layers);
  EXPECT_EQ(m.ffn, preset.model.ffn);
  EXPECT_EQ(m.vocab, preset.model.vocab);
  EXPECT_EQ(m.moe.experts, preset.model.moe.experts);
  EXPECT_EQ(m.moe.shared_ffn, preset.model.moe.shared_ffn);
  EXPECT_EQ(m.moe.first_dense, preset.model.moe.first_dense);
  EXPECT_EQ(m.rope_scaling.attention_factor, preset.model.rope_scaling.attention_factor);
}

TEST(HfConfigMoe, RefusedByName) {
  EXPECT_EQ(hf_error(kMixtral + "}"), "no error");
  EXPECT_EQ(hf_error(kQwen3Moe + "}"), "no error");
  EXPECT_EQ(hf_error(kDeepseek + "}"), "no error");
  EXPECT_THAT(hf_error(kMixtral + R"(, "router_jitter_noise": 0.1})"),
              HasSubstr("router_jitter_noise = 0.1 is not supported; only 0 is"));
  EXPECT_THAT(hf_error(kMixtral + R"(, "sliding_window": 0})"),
              HasSubstr("sliding_window = 0 is not a window"));
  EXPECT_THAT(hf_error(kQwen3Moe + R"(, "num_local_experts": 4})"),
              HasSubstr("num_local_experts = 4 differs from num_experts = 8"));
  EXPECT_THAT(hf_error(kQwen3Moe + R"(, "mlp_only_layers": [1]})"),
              HasSubstr("mlp_only_layers = [1] is not supported; only the first layers"));
  EXPECT_THAT(hf_error(kQwen3Moe + R"(, "mlp_only_layers": [0], "decoder_sparse_step": 2})"),
              HasSubstr("mlp_only_layers = [0] is not supported with decoder_sparse_step = 2"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "topk_method": "greedy"})"),
              HasSubstr("topk_method = \"greedy\" is not supported; only noaux_tc is"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "scoring_func": "softmax"})"),
              HasSubstr("scoring_func = \"softmax\" is not supported; only sigmoid is"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "moe_layer_freq": 2})"),
              HasSubstr("moe_layer_freq = 2 is not supported"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "num_nextn_predict_layers": 2})"),
              HasSubstr("num_nextn_predict_layers = 2 is not supported; 0 and 1 are"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "qk_head_dim": 32})"),
              HasSubstr("qk_head_dim = 32 is not qk_nope_head_dim + qk_rope_head_dim = 24"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "rms_norm_eps": 1e-5})"), HasSubstr("rms_norm_eps"));
  EXPECT_THAT(hf_error(kDeepseek + R"(, "n_shared_experts": 9000000000000000000})"),
              HasSubstr("n_shared_experts = 9000000000000000000 is too many"));
}

TEST(HfConfigMoe, NullSharedExpertsAreNone) {
  const auto shared_ffn = [](const std::string& more) {
    return parse_hf_config(kDeepseek + more + "}", "config.json").moe.shared_ffn;
  };
  EXPECT_EQ(shared_ffn(R"(, "n_shared_experts": null)"), 0);
  EXPECT_EQ(shared_ffn(R"(, "n_shared_experts": 2)"), 48);
  EXPECT_EQ(shared_ffn(""), 24);
}

}  // namespace
}  // namespace trireme::test
