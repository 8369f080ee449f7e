// [moe] and model.mla: what is derived and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;
using Overrides = std::vector<std::string>;

Overrides joined(Overrides first, const Overrides& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

const Overrides kMoe = {"model.family=llama", "moe.experts=8"};
const Overrides kSigmoid = joined(kMoe, {"moe.score=sigmoid"});
const Overrides kDeepseek = {"model.family=deepseek", "model.mla.kv_rank=32", "model.mla.nope_dim=16",
                             "model.mla.rope_dim=8"};

ModelSpec model(const Overrides& base, const Overrides& more = {}) { return with(joined(base, more)).model; }
std::string error(const Overrides& base, const Overrides& more) { return error_with(joined(base, more)); }

TEST(MoeKeys, Derived) {
  const ModelSpec m = model(kMoe);
  EXPECT_EQ(m.moe.top_k, 2);
  EXPECT_EQ(m.moe.expert_ffn, m.ffn);
  EXPECT_EQ(m.moe.aux_loss, 0.01);
  EXPECT_EQ(m.moe.balance_rate, 0.0);
  EXPECT_EQ(m.moe.receive_factor, 1.5);
  EXPECT_EQ(m.moe.groups, 0);  // softmax has none
  EXPECT_TRUE(m.moe.normalize);
  EXPECT_FALSE(model(kMoe, {"moe.softmax_order=after"}).moe.normalize);  // nothing to normalise
  const ModelSpec s = model(kSigmoid);
  EXPECT_EQ(s.moe.balance_rate, 0.001);
  EXPECT_EQ(s.moe.aux_loss, 0.0);
  EXPECT_EQ(s.moe.top_groups, 1);
  EXPECT_EQ(model(kSigmoid, {"moe.balance_rate=0"}).moe.aux_loss, 0.01);
  const ModelSpec dense = model({"model.family=llama"});
  EXPECT_EQ(dense.moe.experts, 0);
  EXPECT_EQ(dense.moe.top_k, 0);
}

TEST(MoeKeys, MlaDerived) {
  const ModelSpec m = model(kDeepseek);
  EXPECT_EQ(m.head_dim, 24);
  EXPECT_EQ(m.kv_heads, 4);
  EXPECT_EQ(m.mla.v_dim, 16);
  EXPECT_EQ(m.mla.q_rank, 0);
  EXPECT_EQ(m.mla.score_scale, 1.0);
  EXPECT_EQ(m.activation, Activation::swiglu);
  EXPECT_EQ(m.mtp, 0);
}

TEST(MoeKeys, ResolvedTextResolvesToItself) {
  for (const Overrides& base :
       {kMoe, kSigmoid, kDeepseek, joined(kDeepseek, {"moe.experts=4", "model.mtp=1"})}) {
    const std::string text = to_toml(with(base));
    EXPECT_EQ(to_toml(parse_config(text, "again.toml")), text);
  }
}

TEST(MoeKeys, ReceiveFactorChangesNoNumbers) {
  EXPECT_EQ(math_hash(with(kMoe)), math_hash(with(joined(kMoe, {"moe.receive_factor=1"}))));
  EXPECT_NE(math_hash(with(kMoe)), math_hash(with(joined(kMoe, {"moe.capacity_factor=1"}))));
}

TEST(MoeKeys, Refused) {
  EXPECT_EQ(error(kMoe, {"moe.top_k=9"}), "--set: moe.top_k = 9 is more than moe.experts = 8; use at most 8");
  EXPECT_THAT(
      error_with({"moe.experts=8"}),
      HasSubstr("moe.experts = 8 is only used with model.family = \"llama\" or \"deepseek\"; remove it"));
  EXPECT_THAT(error({"model.family=llama"}, {"moe.top_k=2"}),
              HasSubstr("moe.top_k = 2 is only used with moe.experts > 0; remove it"));
  EXPECT_THAT(error(kMoe, {"moe.balance_rate=0.001"}),
              HasSubstr("moe.balance_rate = 0.001 is only used with moe.score = \"sigmoid\"; remove it"));
  EXPECT_THAT(error(kMoe, {"moe.groups=2"}), HasSubstr("only used with moe.score = \"sigmoid\""));
  EXPECT_THAT(error(kSigmoid, {"moe.softmax_order=after"}),
              HasSubstr("only used with moe.score = \"softmax\""));
  EXPECT_THAT(error(kMoe, {"moe.softmax_order=after", "moe.normalize=false"}),
              HasSubstr("only used with moe.score = \"sigmoid\", or moe.softmax_order = \"before\""));
  EXPECT_THAT(
      error(kSigmoid, {"moe.groups=3"}),
      HasSubstr("moe.groups = 3 does not cut moe.experts = 8 into equal groups of two or more; use one of "
                "1, 2, 4"));
  EXPECT_THAT(error(kSigmoid, {"moe.groups=8"}), HasSubstr("use one of 1, 2, 4"));
  EXPECT_THAT(error(kSigmoid, {"moe.groups=2", "moe.top_groups=3"}),
              HasSubstr("moe.top_groups = 3 is more than moe.groups = 2; use at most 2"));
  EXPECT_THAT(error(kSigmoid, {"moe.groups=4", "moe.top_groups=1", "moe.top_k=3"}),
              HasSubstr("moe.top_k = 3 is more than the 2 experts of moe.top_groups = 1 groups"));
  EXPECT_THAT(error(kMoe, {"moe.first_dense=2"}),
              HasSubstr("moe.first_dense = 2 leaves none of model.layers = 2 with experts; use at most 1"));
  EXPECT_THAT(error(kMoe, {"moe.every=3"}), HasSubstr("moe.every = 3 leaves none of the 2 layers"));
  EXPECT_THAT(error(kMoe, {"model.activation=gelu"}), HasSubstr("needs model.activation = \"swiglu\""));
  EXPECT_THAT(error(kMoe, {"model.bias=true"}), HasSubstr("needs model.bias = false"));
  EXPECT_THAT(error(kMoe, {"moe.aux_loss=0", "moe.aux_scope=sequence"}),
              HasSubstr("only used with moe.aux_loss > 0"));
}

TEST(MoeKeys, MlaRefused) {
  EXPECT_THAT(error_with({"model.family=deepseek"}), HasSubstr("model.mla.kv_rank is missing"));
  EXPECT_THAT(error(kDeepseek, {"model.mla.rope_dim=7"}), HasSubstr("model.mla.rope_dim = 7 is odd"));
  EXPECT_THAT(error(kDeepseek, {"model.mla.nope_dim=15"}),
              HasSubstr("model.mla.nope_dim = 15 is odd, but the size of a head, nope_dim + rope_dim, is "
                        "even; use 14 or 16"));
  EXPECT_THAT(error(kDeepseek, {"model.mla.v_dim=25"}),
              HasSubstr("model.mla.v_dim = 25 is more than nope_dim + rope_dim = 24"));
  EXPECT_THAT(error(kDeepseek, {"model.head_dim=16"}), HasSubstr("is not mla.nope_dim + mla.rope_dim = 24"));
  EXPECT_THAT(error(kDeepseek, {"model.kv_heads=2"}), HasSubstr("model.kv_heads = 2 is not model.heads = 4"));
  EXPECT_THAT(error(kDeepseek, {"model.bias=true"}), HasSubstr("model.bias = true is not supported"));
  EXPECT_THAT(error(kDeepseek, {"model.qk_norm=true"}), HasSubstr("only used with model.family = \"llama\""));
  EXPECT_THAT(error(kDeepseek, {"model.mtp=1", "model.tie_embeddings=true"}),
              HasSubstr("model.mtp = 1 needs model.tie_embeddings = false"));
  EXPECT_THAT(error({"model.family=llama"}, {"model.mla.kv_rank=4"}),
              HasSubstr("only used with model.family = \"deepseek\""));
}

TEST(MoeKeys, APresetsExpertsCanBeTakenAway) {
  const std::string rest = kBase.substr(kBase.find("[data]"));
  const ModelSpec m =
      parse_config(rest, "a.toml", {"model.preset=mixtral-8x7b", "moe.experts=0", "data.seq_len=16"}).model;
  EXPECT_EQ(m.moe.experts, 0);
  EXPECT_EQ(m.moe.aux_loss, 0.0);
}

}  // namespace
}  // namespace trireme::test
