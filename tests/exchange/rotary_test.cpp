// A model that pairs rotated dims otherwise than transformers computes the same after it went there and back
// in transformers' own layout: queries and keys, grouped ones too, and the norms of heads.
#include <gtest/gtest.h>

#include "exchange/export_hf.h"
#include "exchange/import_run.h"
#include "exchange/saved_model.h"
#include "exchange/saved_run.h"
#include "train/generator.h"

namespace trireme {
namespace {

std::vector<std::vector<float>> logits_of(const std::string& run) {
  const SavedRun saved = open_saved_run(run);
  const RunSpec spec = parse_config(saved.reader.meta().config_toml, "test");
  Generator generator(spec, saved.reader, 1);
  std::vector<std::vector<float>> all;
  for (const uint32_t id : {3u, 17u, 39u, 5u, 17u, 0u, 22u, 8u}) {
    const std::span<const float> logits = generator.feed(std::span(&id, 1));
    all.emplace_back(logits.begin(), logits.end());
  }
  return all;
}

class Rotary : public ::testing::TestWithParam<const char*> {};

TEST_P(Rotary, TheSameFunctionInTheOtherLayout) {
  const test::ScratchFolder folder;
  const RunSpec spec = spec_of(model_texts().at(GetParam()));
  save_drawn(folder / "run", spec, Draw::gentle);
  export_hf(open_saved_run(folder / "run"), folder / "out", {});
  import_run({.source = WeightSource::hf, .from = folder / "out"}, folder / "back");
  EXPECT_NE(load_config(folder / "back/config.toml").model.rope_layout, spec.model.rope_layout);
  EXPECT_NE(saved_tensors(folder / "back"), drawn_tensors(spec.model, Draw::gentle));
  const auto before = logits_of(folder / "run"), after = logits_of(folder / "back");
  for (size_t t = 0; t < before.size(); ++t)
    for (size_t i = 0; i < before[t].size(); ++i)
      // Scores are sums of the same products in another order.
      ASSERT_NEAR(after[t][i], before[t][i], 1e-4) << "token " << t << ", logit " << i;
}

INSTANTIATE_TEST_SUITE_P(Models, Rotary,
                         ::testing::Values("llama_interleaved", "qwen3_interleaved", "qwen3_moe_every",
                                           "deepseek_half"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace trireme
