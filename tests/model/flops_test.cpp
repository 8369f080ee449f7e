// The FLOPs that MFU is stated in, against counts by hand.
#include "model/flops.h"

#include <gtest/gtest.h>

#include "model/model_spec.h"

namespace trireme {
namespace {

using test::spec_of;

// Vaswani-size arithmetic: 12 layers of 12 C^2 matrices at C = 768, and the tied head's V C.
TEST(Flops, Gpt2Of124M) {
  const ModelSpec spec = spec_of("preset = \"gpt2-124m\"");
  const Model model = build_model(spec, {});
  const int64_t blocks = 12 * (768 * 2304 + 768 * 768 + 768 * 3072 + 3072 * 768);
  const int64_t head = spec.vocab * 768;
  EXPECT_EQ(matmul_parameters(spec, model), blocks + head);
  EXPECT_EQ(blocks, 84934656);
  EXPECT_DOUBLE_EQ(flops_per_token(spec, model, 1024),
                   6.0 * static_cast<double>(blocks + head) + 12.0 * 12 * 768 * 1024);
  EXPECT_EQ(flops_formula(spec, model, 1024),
            "6 * " + std::to_string(blocks + head) + " + 12 * 12 * 768 * 1024");
}

// Grouped queries, three matrices of the feed-forward part, head dims that are not C / H, an untied head.
TEST(Flops, LlamaCountsEveryMatrixOnceAndNoTable) {
  const std::string keys =
      "family = \"llama\"\nlayers = 3\nwidth = 64\nheads = 4\nkv_heads = 2\nhead_dim = 32\nffn = 96\n"
      "vocab = 300\ncontext = 128\nqk_norm = true\n";
  const int64_t block = 64 * (4 + 2 + 2) * 32 + 4 * 32 * 64 + 3 * 64 * 96;
  for (const char* tied : {"true", "false"}) {
    const ModelSpec spec = spec_of(keys + "tie_embeddings = " + tied);
    const Model model = build_model(spec, {});
    EXPECT_EQ(matmul_parameters(spec, model), 3 * block + 300 * 64) << tied;
    EXPECT_DOUBLE_EQ(flops_per_token(spec, model, 128),
                     6.0 * static_cast<double>(3 * block + 300 * 64) + 12.0 * 3 * (4 * 32) * 128);
  }
}

// A router, top_k of the experts and the shared ones in two of three layers, a plain layer in the first.
TEST(Flops, ExpertsCountAsManyAsATokenUses) {
  const std::string keys =
      "family = \"llama\"\nlayers = 3\nwidth = 64\nheads = 4\nffn = 96\nvocab = 300\ncontext = 128\n"
      "[moe]\nexperts = 8\ntop_k = 3\nexpert_ffn = 40\nshared_ffn = 24\nfirst_dense = 1\n";
  const ModelSpec spec = spec_of(keys);
  const Model model = build_model(spec, {});
  const int64_t attention = 4 * 64 * 64, dense = 3 * 64 * 96, moe = 8 * 64 + 3 * 3 * 64 * 40 + 3 * 64 * 24;
  EXPECT_EQ(matmul_parameters(spec, model), 3 * attention + dense + 2 * moe + 300 * 64);
}

TEST(Flops, LatentAttentionCountsItsValuesAsWideAsTheyAre) {
  const ModelSpec spec = spec_of(
      "family = \"deepseek\"\nlayers = 2\nwidth = 64\nheads = 4\nffn = 96\nvocab = 300\ncontext = 128\n"
      "mla = {kv_rank = 32, q_rank = 48, nope_dim = 16, rope_dim = 8, v_dim = 12}\n");
  const Model model = build_model(spec, {});
  const int64_t latent = 64 * 48 + 48 * 4 * 24 + 64 * 32 + 32 * 4 * 28 + 64 * 8 + 4 * 12 * 64;
  EXPECT_EQ(matmul_parameters(spec, model), 2 * (latent + 3 * 64 * 96) + 300 * 64);
  EXPECT_DOUBLE_EQ(flops_per_token(spec, model, 128),
                   6.0 * static_cast<double>(matmul_parameters(spec, model)) + 6.0 * 2 * 4 * (24 + 12) * 128);
}

// A further token: two projections, a layer, and the head once more.
TEST(Flops, AFurtherTokenCostsALayerAndAHead) {
  const std::string keys =
      "family = \"deepseek\"\nlayers = 2\nwidth = 64\nheads = 4\nffn = 96\nvocab = 300\ncontext = 128\n"
      "mla = {kv_rank = 32, nope_dim = 16, rope_dim = 8}\n";
  const ModelSpec one = spec_of(keys), two = spec_of(keys + "mtp = 1\n");
  const int64_t layer = 64 * 4 * 24 + 64 * 32 + 32 * 4 * 32 + 64 * 8 + 4 * 16 * 64 + 3 * 64 * 96;
  EXPECT_EQ(matmul_parameters(two, build_model(two, {})),
            matmul_parameters(one, build_model(one, {})) + layer + 2 * 64 * 64 + 300 * 64);
}

}  // namespace
}  // namespace trireme
