// config.json as transformers writes it, in its old form and its new one, and what is refused.
#include "config/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hf_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

const std::string kLlama2 =
    R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
  "intermediate_size": 160, "vocab_size": 101, "max_position_embeddings": 256)";
const std::string kQwen =
    R"({"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "head_dim": 32,
  "intermediate_size": 160, "vocab_size": 101, "max_position_embeddings": 256)";
const std::string kGpt2 =
    R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_positions": 32, "vocab_size": 101)";

RawModel llama(const std::string& more) { return parse_hf_config(kLlama2 + more + "}", "config.json"); }

TEST(HfConfig, Gpt2AsWritten) {
  const ModelSpec m = from_golden("hf_gpt2");
  EXPECT_EQ(m.family, Family::gpt2);
  EXPECT_EQ(m.layers, 3);
  EXPECT_EQ(m.width, 48);
  EXPECT_EQ(m.heads, 4);
  EXPECT_EQ(m.ffn, 192);
  EXPECT_EQ(m.vocab, 99);
  EXPECT_EQ(m.context, 32);
  EXPECT_EQ(m.activation, Activation::gelu_tanh);
  EXPECT_EQ(m.norm_eps, 1e-5);
  EXPECT_TRUE(m.tie_embeddings);
  EXPECT_TRUE(m.bias);
}

TEST(HfConfig, LlamaAsWrittenWithRopeParameters) {
  const ModelSpec m = from_golden("hf_llama");
  EXPECT_EQ(m.family, Family::llama);
  EXPECT_EQ(m.kv_heads, 2);
  EXPECT_EQ(m.head_dim, 8);
  EXPECT_EQ(m.ffn, 160);
  EXPECT_FALSE(m.tie_embeddings);
  EXPECT_FALSE(m.qk_norm);
  EXPECT_EQ(m.rope_theta, 500000.0);
  EXPECT_EQ(m.rope_scaling.kind, RopeScalingKind::llama3);
  EXPECT_EQ(m.rope_scaling.factor, 8.0);
  EXPECT_EQ(m.rope_scaling.original_context, 32);
}

TEST(HfConfig, Qwen3AsWritten) {
  const ModelSpec m = from_golden("hf_qwen3");
  EXPECT_EQ(m.head_dim, 32);
  EXPECT_TRUE(m.qk_norm);
  EXPECT_TRUE(m.tie_embeddings);
  EXPECT_EQ(m.rope_theta, 1e6);
  EXPECT_EQ(m.norm_eps, 1e-6);
  EXPECT_EQ(m.window, 0);
}

TEST(HfConfig, KeysOverrideTheFile) {
  EXPECT_EQ(from_golden("hf_qwen3", {"model.layers=7"}).layers, 7);
  EXPECT_EQ(from_golden("hf_llama", {"model.rope_scaling.kind=none"}).rope_scaling.factor, 0.0);
}

TEST(HfConfig, RopeInTheOldForm) {
  EXPECT_EQ(llama("").rope_theta, 10000.0);
  EXPECT_EQ(llama(R"(, "rope_theta": 5e5, "rope_scaling": null)").rope_theta, 5e5);
  const RawModel linear = llama(R"(, "rope_scaling": {"type": "linear", "factor": 4})");
  EXPECT_EQ(linear.rope_scaling.kind, RopeScalingKind::linear);
  EXPECT_EQ(linear.rope_scaling.factor, 4.0);
  const RawModel yarn = llama(
      R"(, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 16})");
  EXPECT_EQ(yarn.rope_scaling.original_context, 64);
  EXPECT_EQ(yarn.rope_scaling.beta_fast, 16.0);
  EXPECT_EQ(llama(R"(, "rope_scaling": {"rope_type": "yarn", "factor": 4.0})").rope_scaling.original_context,
            256);
  EXPECT_EQ(llama(R"(, "rope_theta": 7.0, "rope_parameters": {"rope_type": "default"})").rope_theta, 7.0);
}

TEST(HfConfig, RopeRefused) {
  const auto error = [](const std::string& more) { return hf_error(kLlama2 + more + "}"); };
  EXPECT_EQ(
      error(R"(, "rope_scaling": {"type": "dynamic", "factor": 2.0})"),
      "config.json: rope_scaling.type = \"dynamic\" is not supported; default, linear, yarn and llama3 are");
  EXPECT_THAT(error(R"(, "rope_scaling": {"rope_type": "longrope", "factor": 2.0})"),
              HasSubstr("rope_scaling.rope_type = \"longrope\" is not supported"));
  EXPECT_THAT(error(R"(, "rope_scaling": {"rope_type": "linear"})"),
              HasSubstr("rope_scaling.factor is missing"));
  EXPECT_THAT(error(R"(, "rope_scaling": {"rope_type": "llama3", "factor": 2.0})"),
              HasSubstr("original_max_position_embeddings is missing"));
  EXPECT_THAT(error(R"(, "rope_scaling": {"rope_type": "linear", "factor": 2.0, "mscale": 1.0})"),
              HasSubstr("rope_scaling.mscale = 1.0 is not known here"));
  EXPECT_THAT(error(R"(, "rope_scaling": {"rope_type": "yarn", "factor": 2.0, "truncate": false})"),
              HasSubstr("truncate = false is not supported"));
  EXPECT_THAT(error(R"(, "rope_scaling": 3)"), HasSubstr("rope_scaling = 3 is not an object"));
  EXPECT_THAT(error(R"(, "rope_parameters": {"rope_type": "default"})"),
              HasSubstr("rope_parameters.rope_theta is missing"));
  EXPECT_THAT(error(R"(, "rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e5})"),
              HasSubstr("rope_parameters.rope_theta = 100000.0 differs from rope_theta = 10000"));
  EXPECT_THAT(
      error(
          R"(, "rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_theta": 1e4})"),
      HasSubstr("does not agree with rope_scaling"));
  EXPECT_THAT(error(R"(, "rope_theta": 1e4, "partial_rotary_factor": 0.5)"),
              HasSubstr("partial_rotary_factor = 0.5 is not supported; only 1 is"));
}

TEST(HfConfig, Dropout) {
  EXPECT_EQ(hf_error(kGpt2 + R"(, "resid_pdrop": 0.1, "attn_pdrop": 0.0})"), "no error");
  EXPECT_EQ(hf_error(kGpt2 + R"(, "resid_pdrop": 0.2})"),
            "config.json: resid_pdrop = 0.2 is not supported: there is no dropout here; set it to 0");
  EXPECT_THAT(hf_error(kLlama2 + R"(, "attention_dropout": 0.1})"),
              HasSubstr("attention_dropout = 0.1 is not supported"));
}

TEST(HfConfig, RefusedByName) {
  EXPECT_EQ(hf_error(kGpt2 + R"(, "activation_function": "tanh"})"),
            "config.json: activation_function = \"tanh\" is not supported; gelu_new, gelu_pytorch_tanh, gelu "
            "and relu2 are");
  EXPECT_THAT(hf_error(kGpt2 + R"(, "scale_attn_by_inverse_layer_idx": true})"),
              HasSubstr("scale_attn_by_inverse_layer_idx = true is not supported; only false is"));
  EXPECT_THAT(hf_error(kGpt2 + R"(, "scale_attn_weights": false})"),
              HasSubstr("scale_attn_weights = false is not supported"));
  EXPECT_THAT(hf_error(kGpt2 + R"(, "n_ctx": 16})"), HasSubstr("n_ctx = 16 differs from n_positions = 32"));
  EXPECT_THAT(hf_error(kGpt2 + R"(, "add_cross_attention": true})"),
              HasSubstr("add_cross_attention = true is not supported"));
  EXPECT_THAT(hf_error(kGpt2 + R"(, "pruned_heads": {"0": [1]}})"), HasSubstr("pruned_heads"));
  EXPECT_THAT(hf_error(kLlama2 + R"(, "hidden_act": "gelu"})"),
              HasSubstr("hidden_act = \"gelu\" is not supported; this family's gate is silu"));
  EXPECT_THAT(hf_error(kLlama2 + R"(, "attention_bias": true})"),
              HasSubstr("attention_bias = true is not supported alone"));
  EXPECT_EQ(llama(R"(, "attention_bias": true, "mlp_bias": true)").bias, true);
  EXPECT_THAT(hf_error(kLlama2 + R"(, "final_logit_softcapping": 30.0})"),
              HasSubstr("final_logit_softcapping = 30.0 is not known here"));
  EXPECT_THAT(hf_error(R"({"model_type": "mamba"})"),
              HasSubstr("model_type = \"mamba\" is not supported; gpt2, llama, qwen3, mixtral, qwen3_moe and "
                        "deepseek_v3 are"));
  EXPECT_THAT(hf_error("{}"), HasSubstr("model_type is missing"));
  EXPECT_THAT(hf_error(R"({"model_type": "gpt2"})"), HasSubstr("n_layer is missing"));
  EXPECT_THAT(hf_error(R"({"model_type": "gpt2", "n_layer": "2"})"),
              HasSubstr("n_layer = \"2\" is not a whole number"));
  EXPECT_THAT(hf_error(R"({"model_type": "gpt2", "n_layer": 18446744073709551615})"),
              HasSubstr("is not a whole number"));
}

TEST(HfConfig, SlidingWindows) {
  const auto window = [](const std::string& more) {
    return parse_hf_config(kQwen + more + "}", "config.json").window;
  };
  EXPECT_EQ(window(R"(, "use_sliding_window": false, "sliding_window": 8)"), std::nullopt);
  EXPECT_EQ(window(R"(, "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 0)"), 8);
  EXPECT_EQ(window(R"(, "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 2)"),
            std::nullopt);
  EXPECT_EQ(window(R"(, "sliding_window": 8, "layer_types": ["sliding_attention", "sliding_attention"])"), 8);
  EXPECT_THAT(
      hf_error(kQwen + R"(, "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 1})"),
      HasSubstr("max_window_layers = 1 gives 1 of 2 layers a sliding window; only all or none is supported"));
  EXPECT_THAT(
      hf_error(kQwen + R"(, "sliding_window": 8, "layer_types": ["full_attention", "sliding_attention"]})"),
      HasSubstr("gives 1 of 2 layers"));
  EXPECT_THAT(hf_error(kQwen + R"(, "layer_types": ["full_attention"]})"),
              HasSubstr("is not a list of 2 layers"));
  EXPECT_THAT(hf_error(kQwen + R"(, "layer_types": ["full_attention", "x"]})"), HasSubstr("layer_types"));
}

TEST(HfConfig, OutOfRangeIsFoundByResolve) {
  EXPECT_THAT(
      error_of(kBase.substr(kBase.find("[data]")), {"model.hf=" + golden_path("hf_gpt2"), "data.seq_len=33"}),
      HasSubstr("model.context = 32"));
}

TEST(HfConfig, HostileText) {
  EXPECT_THAT(hf_error(""), HasSubstr("config.json: not JSON"));
  EXPECT_THAT(hf_error("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(hf_error("{\"a\":"), HasSubstr("not JSON"));
  EXPECT_THAT(hf_error(std::string(100000, '[')), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(hf_error(std::string(2 << 20, ' ')), HasSubstr("too many"));
  EXPECT_THROW(from_hf("no-such-file.json"), EnvError);
  EXPECT_THROW(from_hf(TRIREME_SOURCE_DIR "/configs"), EnvError);
}

}  // namespace
}  // namespace trireme::test
