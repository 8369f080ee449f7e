// Models with experts and with latent attention: names, shapes, roles and layers as text.
#include <gtest/gtest.h>

#include <set>

#include "ir/text.h"
#include "model/model.h"
#include "model/model_spec.h"
#include "model/model_text.h"

namespace trireme {
namespace {

ModelSpec spec_of(const std::string& model) {
  return test::spec_of("layers = 3\nwidth = 64\nheads = 4\nvocab = 257\ncontext = 32\n" + model);
}

const std::string kMixtral = "family = \"llama\"\nffn = 48\n[moe]\nexperts = 4\nsoftmax_order = \"after\"\n";
const std::string kDeepseek =
    "family = \"deepseek\"\nffn = 96\nmla = {kv_rank = 32, q_rank = 48, nope_dim = 16, rope_dim = 8}\n"
    "[moe]\nexperts = 8\nexpert_ffn = 24\nshared_ffn = 48\nfirst_dense = 1\nscore = \"sigmoid\"\ngroups = 4\n"
    "top_groups = 2\n";

std::string layer_params(const Model& model, const std::string& layer) {
  std::string text;
  for (const ParamSpec& param : model.params)
    if (param.name.starts_with(layer + "."))
      text += param.name.substr(layer.size() + 1) + " " + to_string(param.shape) + "\n";
  return text;
}

TEST(MoeModel, LayersOfTwoKindsHaveAGraphEach) {
  const Model model = build_model(spec_of(kDeepseek), {});
  ASSERT_EQ(model.blocks.size(), 5u);
  EXPECT_EQ(model.graphs.size(), 4u);
  EXPECT_EQ(model.graphs[1].name, "deepseek.layer");
  EXPECT_EQ(model.graphs[2].name, "deepseek.moe_layer");
  EXPECT_EQ(model.blocks[1].graph, 1);
  EXPECT_EQ(model.blocks[2].graph, 2);
  EXPECT_EQ(model.blocks[3].graph, 2);
  EXPECT_EQ(build_model(spec_of(kMixtral), {}).graphs.size(), 3u);  // all are alike
}

TEST(MoeModel, WhichLayersHaveExperts) {
  const auto kinds = [](const std::string& more) {
    const ModelSpec spec = spec_of(kMixtral + more);
    std::string text;
    for (int64_t layer = 0; layer < 3; ++layer) text += layer_kind(spec, layer) == LayerKind::moe ? 'm' : 'd';
    return text;
  };
  EXPECT_EQ(kinds(""), "mmm");
  EXPECT_EQ(kinds("every = 2"), "dmd");
  EXPECT_EQ(kinds("first_dense = 2"), "ddm");
  EXPECT_EQ(kinds("first_dense = 1\nevery = 2"), "ddm");
}

TEST(MoeModel, ParametersOfALayerWithExperts) {
  const Model model = build_model(spec_of(kDeepseek), {});
  EXPECT_EQ(layer_params(model, "layers.1"),
            "attn_norm.weight 64\nattn.q_down.weight 48,64\nattn.q_norm.weight 48\nattn.q_up.weight 96,48\n"
            "attn.kv_down.weight 32,64\nattn.kv_norm.weight 32\nattn.kv_up.weight 128,32\n"
            "attn.k_rope.weight 8,64\nattn.out.weight 64,64\nmlp_norm.weight 64\nmoe.router.weight 8,64\n"
            "moe.balance 2,8\nmoe.experts.gate_up.weight 8,48,64\nmoe.experts.down.weight 8,64,24\n"
            "moe.shared.gate_up.weight 96,64\nmoe.shared.down.weight 64,48\n");
  const ParamSpec& gate_up = param_named(model, "layers.1.moe.experts.gate_up.weight");
  EXPECT_EQ(gate_up.use.role, ParamRole::expert_column);
  EXPECT_EQ(gate_up.use.parts, (std::vector<int64_t>{24, 24}));
  EXPECT_TRUE(gate_up.decay);
  EXPECT_EQ(param_named(model, "layers.1.moe.experts.down.weight").use.role, ParamRole::expert_row);
  const ParamSpec& state = param_named(model, "layers.1.moe.balance");
  EXPECT_EQ(state.use.role, ParamRole::router_state);
  EXPECT_FALSE(state.decay);
  EXPECT_EQ(state.init_std, 0.0f);
  EXPECT_EQ(param_named(model, "layers.1.attn.q_up.weight").use.unit, 24);
  EXPECT_EQ(param_named(model, "layers.1.attn.kv_up.weight").use.unit, 32);
}

TEST(MoeModel, TheStateOfRoutersIsNoParameter) {
  const Model model = build_model(spec_of(kMixtral), {});
  int64_t all = 0;
  for (const ParamSpec& param : model.params) all += count(param.shape);
  EXPECT_EQ(parameter_count(model), all - 3 * 2 * 4);
}

TEST(MoeModel, AMixtralLayerAsText) {
  const Model model = build_model(spec_of(kMixtral), {.batch = 2, .seq_len = 8});
  EXPECT_EQ(
      ops_in(to_text(model.graphs[1])),
      "attn_norm, attn_norm.rstd = rmsnorm(x, attn_norm.weight)\n"
      "attn.qkv = linear(attn_norm, attn.qkv.weight, _)\n"
      "attn.rotated = rope(attn.qkv, _)\n"
      "attn, attn.lse = attention(attn.rotated, _)\n"
      "attn.out = linear(attn, attn.out.weight, _)\n"
      "middle = add(x, attn.out)\n"
      "mlp_norm, mlp_norm.rstd = rmsnorm(middle, mlp_norm.weight)\n"
      "moe.ids, moe.weights, moe.scores, moe.counts = router(mlp_norm, moe.router.weight, moe.balance)\n"
      "moe.balanced = balance(moe.weights, moe.scores, moe.counts)\n"
      "moe.experts, moe.rows, moe.hidden, moe.plan = experts(mlp_norm, moe.ids, moe.balanced, "
      "moe.experts.gate_up.weight, moe.experts.down.weight)\n"
      "y = add(middle, moe.experts)\n");
}

TEST(MoeModel, ADeepseekLayerForGenerationAsText) {
  const Model model = build_model(spec_of(kDeepseek),
                                  {.batch = 1, .seq_len = 8, .positions = true, .head = HeadResult::logits});
  EXPECT_EQ(
      ops_in(to_text(model.graphs[2])),
      "attn_norm, attn_norm.rstd = rmsnorm(x, attn_norm.weight)\n"
      "attn.q_down = linear(attn_norm, attn.q_down.weight, _)\n"
      "attn.q_norm, attn.q_norm.rstd = rmsnorm(attn.q_down, attn.q_norm.weight)\n"
      "attn.q_up = linear(attn.q_norm, attn.q_up.weight, _)\n"
      "attn.kv_down = linear(attn_norm, attn.kv_down.weight, _)\n"
      "attn.kv_norm, attn.kv_norm.rstd = rmsnorm(attn.kv_down, attn.kv_norm.weight)\n"
      "attn.kv_up = linear(attn.kv_norm, attn.kv_up.weight, _)\n"
      "attn.k_rope = linear(attn_norm, attn.k_rope.weight, _)\n"
      "attn.qkv = mla_qkv(attn.q_up, attn.kv_up, attn.k_rope, positions)\n"
      "attn, attn.lse = attention(attn.qkv, _)\n"
      "attn.values = mla_values(attn)\n"
      "attn.out = linear(attn.values, attn.out.weight, _)\n"
      "middle = add(x, attn.out)\n"
      "mlp_norm, mlp_norm.rstd = rmsnorm(middle, mlp_norm.weight)\n"
      "moe.ids, moe.weights, moe.scores, moe.counts = router(mlp_norm, moe.router.weight, moe.balance)\n"
      "moe.experts, moe.rows, moe.hidden, moe.plan = experts(mlp_norm, moe.ids, moe.weights, "
      "moe.experts.gate_up.weight, moe.experts.down.weight)\n"
      "moe.shared.gate_up = linear(mlp_norm, moe.shared.gate_up.weight, _)\n"
      "moe.shared.hidden = swiglu(moe.shared.gate_up)\n"
      "moe.shared.down = linear(moe.shared.hidden, moe.shared.down.weight, _)\n"
      "moe.sum = add(moe.experts, moe.shared.down)\n"
      "y = add(middle, moe.sum)\n");
}

// The release has 671.0 billion parameters without what predicts further tokens.
TEST(MoeModel, DeepseekV3HasItsPublishedSize) {
  const auto count_of = [](const char* more) {
    const ModelSpec spec = test::spec_of(std::string("preset = \"deepseek-v3\"\n") + more);
    return parameter_count(build_model(spec, {}));
  };
  EXPECT_EQ(count_of("mtp = 0\n"), 671026404352);
  const int64_t c = 7168, one_layer = c * (1536 + 512 + 64) + 1536 * (1 + 128 * 192) + 512 * (1 + 128 * 256) +
                                      128 * 128 * c + 2 * c + 256 * c + 257 * 3 * 2048 * c;
  EXPECT_EQ(count_of(""), 671026404352 + one_layer + 3 * 7168 + 2 * 7168 * 7168);
}

TEST(MoeModel, TheHeadPredictsAFurtherTokenWithALayerOfItsOwn) {
  std::string keys = kDeepseek;
  keys.insert(keys.find("[moe]"), "mtp = 1\n");
  const ModelSpec spec = spec_of(keys);
  const Model model = build_model(spec, {.batch = 2, .seq_len = 8});
  const std::string ops = ops_in(to_text(model.graphs.back()));
  EXPECT_EQ(ops.substr(0, ops.find("mtp.attn_norm,")),
            "final_norm, final_norm.rstd = rmsnorm(x, final_norm.weight)\n"
            "mtp.next_ids, mtp.targets = mtp_targets(targets)\n"
            "mtp.embed = embedding(mtp.next_ids, embed.weight)\n"
            "mtp.hidden_norm, mtp.hidden_norm.rstd = rmsnorm(x, mtp.hidden_norm.weight)\n"
            "mtp.hidden_proj = linear(mtp.hidden_norm, mtp.hidden_proj.weight, _)\n"
            "mtp.embed_norm, mtp.embed_norm.rstd = rmsnorm(mtp.embed, mtp.embed_norm.weight)\n"
            "mtp.embed_proj = linear(mtp.embed_norm, mtp.embed_proj.weight, _)\n"
            "mtp.x = add(mtp.hidden_proj, mtp.embed_proj)\n");
  EXPECT_EQ(ops.substr(ops.find("mtp.y =")),
            "mtp.y = add(mtp.middle, mtp.moe.sum)\n"
            "mtp.final_norm, mtp.final_norm.rstd = rmsnorm(mtp.y, mtp.final_norm.weight)\n"
            "all_rows = stack_batch(final_norm, mtp.final_norm)\n"
            "loss, loss.nll = head_loss(all_rows, head.weight, mtp.targets)\n");
  EXPECT_EQ(param_named(model, "mtp.moe.router.weight").shape, (Shape{8, 64}));
  // For generation the same parameters are there, unread.
  const Model generating =
      build_model(spec, {.batch = 1, .seq_len = 4, .positions = true, .head = HeadResult::logits});
  std::set<std::string> trained, kept;
  for (const ParamSpec& param : model.params) trained.insert(param.name);
  for (const ParamSpec& param : generating.params) kept.insert(param.name);
  EXPECT_EQ(trained, kept);
  EXPECT_EQ(ops_in(to_text(generating.graphs.back())),
            "final_norm, final_norm.rstd = rmsnorm(x, final_norm.weight)\n"
            "logits = head_logits(final_norm, head.weight)\n");
}

}  // namespace
}  // namespace trireme
