// MFU, HFU and FLOPs per token.
#include "plan/calculators/utilization.h"

#include <gtest/gtest.h>

#include "model/flops.h"
#include "plan/message.h"

namespace trireme {
namespace {

const std::string kConfigs = TRIREME_SOURCE_DIR "/configs/";

TEST(TokenFlops, OfNumbersAndOfAConfigAgree) {
  EXPECT_EQ(token_flops(ModelSizes{.parameters = 7e9}).all(), 42e9);
  const RunSpec spec = load_config(kConfigs + "gpt2-124m.toml");
  const auto n = static_cast<double>(matmul_parameters(spec.model, whole_model(spec)));
  const TokenFlops numbers =
      token_flops(ModelSizes{n, spec.model.layers, spec.model.width, spec.data.seq_len});
  EXPECT_EQ(token_flops(spec).all(), numbers.all());
  EXPECT_EQ(token_flops(spec).attention, 12.0 * 12 * 768 * 1024);
  EXPECT_EQ(token_flops(ModelSizes{7e9, 32, 4096, 8192}).numbers, "6 * 7e9 + 12 * 32 * 4096 * 8192");
}

TEST(TokenFlops, OfExpertsOnlyThoseOfAToken) {
  const RunSpec spec = load_config(kConfigs + "moe-tiny.toml");
  const Model model = whole_model(spec);
  const MoeSpec& moe = spec.model.moe;
  int64_t layers = 0;
  for (int64_t i = 0; i < spec.model.layers; ++i)
    layers += layer_kind(spec.model, i) == LayerKind::moe ? 1 : 0;
  const int64_t expert = 3 * spec.model.width * moe.expert_ffn;  // gate, up, down
  EXPECT_EQ(parameter_count(model) - active_parameters(spec.model, model),
            layers * (moe.experts - moe.top_k) * expert);
  EXPECT_GT(layers, 0);
}

Speed speed_of(double tokens_per_s, Recomputed recomputed) {
  return {.tokens_per_s = tokens_per_s,
          .devices = 8,
          .peak = {1e12, "peak"},
          .flops = token_flops(ModelSizes{1e9, 10, 1000, 10000}),  // 6e9 + 1.2e9
          .recomputed = recomputed};
}

TEST(Utilization, IsFlopsDoneOverFlopsPossible) {
  const Answer answer = utilization(speed_of(500, Recomputed::nothing));
  EXPECT_NEAR(find_result(answer, "mfu")->value, 500 * 7.2e9 / 8e12, 1e-12);
  EXPECT_EQ(find_result(answer, "hfu")->value, find_result(answer, "mfu")->value);
  EXPECT_EQ(find_result(answer, "tokens_per_s_device")->value, 62.5);
}

TEST(Utilization, OfTheHardwareCountsWhatIsComputedAgain) {
  const Answer full = utilization(speed_of(500, Recomputed::layers));
  EXPECT_NEAR(find_result(full, "hfu")->value, 500 * 9.6e9 / 8e12, 1e-12);
  EXPECT_NEAR(find_result(full, "mfu")->value, 500 * 7.2e9 / 8e12, 1e-12);
  EXPECT_NEAR(find_result(utilization(speed_of(500, Recomputed::attention)), "hfu")->value,
              500 * 7.6e9 / 8e12, 1e-12);
  EXPECT_EQ(recomputed_by(RecomputeKind::selective), Recomputed::nothing);
  EXPECT_EQ(recomputed_by(RecomputeKind::full), Recomputed::layers);
}

TEST(Utilization, RefusesTheImpossible) {
  EXPECT_EQ(
      message_of([] { utilization(speed_of(2000, Recomputed::nothing)); }),
      "MFU = 180.0 %: more than 100 % is impossible; check that 2000 tokens/s is of all 8 devices together, "
      "that peak (1e12 FLOP/s) is the peak of the dtype that products run in, and the FLOPs per token "
      "(7.2e9)");
  EXPECT_TRUE(
      message_of([] { utilization(speed_of(1000, Recomputed::layers)); }).starts_with("HFU = 120.0 %: "));
  Speed bare = speed_of(10, Recomputed::attention);
  bare.flops = token_flops(ModelSizes{.parameters = 1e9});
  EXPECT_EQ(message_of([&] { utilization(bare); }),
            "--recompute attention: it needs attention's FLOPs; give --layers, --width and --seq");
}

}  // namespace
}  // namespace trireme
