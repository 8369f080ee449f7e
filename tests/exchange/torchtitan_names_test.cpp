// torchtitan's names, at the top and under `model.`.
#include "exchange/torchtitan_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme {
namespace {
using testing::HasSubstr;

ForeignTensors with_names(const std::vector<std::string>& names) {
  ForeignTensors tensors{.from = "step-10", .files = {"f"}};
  for (const std::string& name : names)
    tensors.tensors[name] = {.shape = {static_cast<int64_t>(name.size())}};
  return tensors;
}

TEST(TorchtitanNames, AreKnownByTheEmbedding) {
  EXPECT_TRUE(has_torchtitan_names(with_names({"tok_embeddings.weight"})));
  EXPECT_TRUE(has_torchtitan_names(with_names({"model.tok_embeddings.weight"})));
  EXPECT_TRUE(has_torchtitan_names(with_names({"app.model.tok_embeddings.weight"})));
  EXPECT_FALSE(has_torchtitan_names(with_names({"model.embed_tokens.weight", "norm.weight"})));
}

TEST(TorchtitanNames, LoseThePrefixAndSayTheLayout) {
  const TorchtitanWeights weights = rename_torchtitan(with_names(
      {"model.tok_embeddings.weight", "model.layers.0.attention.wq.weight", "norm.weight", "other"}));
  EXPECT_EQ(weights.rope_layout, RopeLayout::interleaved);
  EXPECT_EQ(weights.tensors.from, "step-10");
  EXPECT_EQ(weights.tensors.files.size(), 1u);
  ASSERT_EQ(weights.tensors.tensors.size(), 4u);
  EXPECT_EQ(weights.tensors.tensors.at("tok_embeddings.weight").shape, (Shape{27}));
  EXPECT_TRUE(weights.tensors.tensors.contains("layers.0.attention.wq.weight"));
  EXPECT_TRUE(weights.tensors.tensors.contains("norm.weight"));
  EXPECT_TRUE(weights.tensors.tensors.contains("other"));
}

TEST(TorchtitanNames, WhatCannotBeToldIsRefused) {
  const auto said = [](const std::vector<std::string>& names) {
    try {
      rename_torchtitan(with_names(names));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(said({"model.norm.weight", "norm.weight"}), HasSubstr("norm.weight stands twice"));
  EXPECT_THAT(said({"layers.0.attention.q_norm.weight"}), HasSubstr("q_norm.weight is of no Llama"));
}

}  // namespace
}  // namespace trireme
