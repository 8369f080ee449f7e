// What the families are made of: names, shapes, first values, the chain of blocks, and a layer as text.
#include "model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ir/text.h"
#include "model/model_spec.h"
#include "model/model_text.h"

namespace trireme {
namespace {

using test::spec_of;

const char* const kSmall = "\nlayers = 2\nwidth = 64\nheads = 4\nvocab = 257\ncontext = 32";

std::string names_and_shapes(const Model& model) {
  std::string text;
  for (const ParamSpec& param : model.params) text += param.name + " " + to_string(param.shape) + "\n";
  return text;
}

// Counts as published: Radford et al. 2019 with tied embeddings, and the model cards.
TEST(Model, PresetsHaveTheirPublishedSizes) {
  const auto count_of = [](const char* preset) {
    return parameter_count(build_model(spec_of(std::string("preset = \"") + preset + "\""), {}));
  };
  EXPECT_EQ(count_of("gpt2-124m"), 124439808);
  EXPECT_EQ(count_of("gpt2-1.5b"), 1557611200);
  EXPECT_EQ(count_of("llama3-1b"), 1235814400);
  EXPECT_EQ(count_of("llama3-8b"), 8030261248);
  EXPECT_EQ(count_of("qwen3-0.6b"), 596049920);
  EXPECT_EQ(count_of("mixtral-8x7b"), 46702792704);
  EXPECT_EQ(count_of("qwen3-30b-a3b"), 30532122624);
}

TEST(Model, Gpt2sParametersInOrder) {
  const Model model = build_model(spec_of(std::string("family = \"gpt2\"\nbias = false") + kSmall), {});
  const auto layer = [](const std::string& n) {
    return "layers." + n + ".attn_norm.weight 64\nlayers." + n + ".attn.qkv.weight 192,64\nlayers." + n +
           ".attn.out.weight 64,64\nlayers." + n + ".mlp_norm.weight 64\nlayers." + n +
           ".mlp.up.weight 256,64\nlayers." + n + ".mlp.down.weight 64,256\n";
  };
  EXPECT_EQ(names_and_shapes(model), "embed.weight 257,64\npositions.weight 32,64\n" + layer("0") +
                                         layer("1") + "final_norm.weight 64\n");
}

TEST(Model, AnUntiedHeadHasAMatrixOfItsOwnATiedOneTheEmbeddings) {
  const std::string llama = std::string("family = \"llama\"") + kSmall;
  const Model untied = build_model(spec_of(llama), {});
  EXPECT_EQ(untied.params.back().name, "head.weight");
  const Model tied = build_model(spec_of(llama + "\ntie_embeddings = true"), {});
  EXPECT_EQ(tied.params.back().name, "final_norm.weight");
  EXPECT_EQ(tied.blocks.back().params.back(), 0);
  EXPECT_EQ(tied.params[0].name, "embed.weight");
}

TEST(Model, EqualBlocksShareAGraphAndNoParameter) {
  const Model model = build_model(spec_of(std::string("family = \"llama\"") + kSmall), {});
  ASSERT_EQ(model.blocks.size(), 4u);
  EXPECT_EQ(model.blocks[1].graph, model.blocks[2].graph);
  std::set<int32_t> seen;
  for (const ModelBlock& block : model.blocks)
    for (const int32_t param : block.params) EXPECT_TRUE(seen.insert(param).second) << block.name;
  EXPECT_EQ(seen.size(), model.params.size());
}

TEST(Model, FirstValuesAndDecayByKindOfParameter) {
  const Model model = build_model(spec_of(std::string("family = \"gpt2\"") + kSmall), {});
  const auto std_of = [&](const char* name) { return param_named(model, name).init_std; };
  EXPECT_FLOAT_EQ(std_of("embed.weight"), 0.02f);
  EXPECT_FLOAT_EQ(std_of("layers.1.mlp.up.weight"), 0.02f);
  // Into the residual stream: / sqrt(2 layers).
  EXPECT_FLOAT_EQ(std_of("layers.0.attn.out.weight"), 0.01f);
  EXPECT_FLOAT_EQ(std_of("layers.1.mlp.down.weight"), 0.01f);
  for (const ParamSpec& param : model.params) {
    const bool matrix = param.shape.size() == 2;
    EXPECT_EQ(param.decay, matrix) << param.name;
    if (matrix) continue;
    EXPECT_EQ(param.init_std, 0) << param.name;
    EXPECT_EQ(param.init_mean, param.name.ends_with("norm.weight") ? 1 : 0) << param.name;
  }
}

TEST(Model, AGpt2LayerAsText) {
  const Model model =
      build_model(spec_of(std::string("family = \"gpt2\"") + kSmall), {.batch = 2, .seq_len = 8});
  EXPECT_EQ(ops_in(to_text(model.graphs[1])),
            "attn_norm, attn_norm.mean, attn_norm.rstd = layernorm(x, attn_norm.weight, attn_norm.bias)\n"
            "attn.qkv = linear(attn_norm, attn.qkv.weight, attn.qkv.bias)\n"
            "attn, attn.lse = attention(attn.qkv, _)\n"
            "attn.out = linear(attn, attn.out.weight, attn.out.bias)\n"
            "middle = add(x, attn.out)\n"
            "mlp_norm, mlp_norm.mean, mlp_norm.rstd = layernorm(middle, mlp_norm.weight, mlp_norm.bias)\n"
            "mlp.up = linear(mlp_norm, mlp.up.weight, mlp.up.bias)\n"
            "mlp.hidden = activation(mlp.up)\n"
            "mlp.down = linear(mlp.hidden, mlp.down.weight, mlp.down.bias)\n"
            "y = add(middle, mlp.down)\n");
}

TEST(Model, AQwen3LayerOverDocumentsAsText) {
  const ModelSpec spec =
      spec_of(std::string("family = \"llama\"\nkv_heads = 2\nhead_dim = 32\nqk_norm = true") + kSmall);
  const Model model = build_model(spec, {.batch = 2, .seq_len = 8, .positions = true, .doc_start = true});
  EXPECT_EQ(ops_in(to_text(model.graphs[1])),
            "attn_norm, attn_norm.rstd = rmsnorm(x, attn_norm.weight)\n"
            "attn.qkv = linear(attn_norm, attn.qkv.weight, _)\n"
            "attn.normed, attn.normed.rstd = qk_norm(attn.qkv, attn.q_norm.weight, attn.k_norm.weight)\n"
            "attn.rotated = rope(attn.normed, positions)\n"
            "attn, attn.lse = attention(attn.rotated, doc_start)\n"
            "attn.out = linear(attn, attn.out.weight, _)\n"
            "middle = add(x, attn.out)\n"
            "mlp_norm, mlp_norm.rstd = rmsnorm(middle, mlp_norm.weight)\n"
            "mlp.gate_up = linear(mlp_norm, mlp.gate_up.weight, _)\n"
            "mlp.hidden = swiglu(mlp.gate_up)\n"
            "mlp.down = linear(mlp.hidden, mlp.down.weight, _)\n"
            "y = add(middle, mlp.down)\n");
}

}  // namespace
}  // namespace trireme
