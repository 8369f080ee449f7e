// Weights that transformers saved give its logits. The goldens: tests/golden/exchange/make_models.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exchange/import_run.h"
#include "exchange/saved_model.h"
#include "exchange/saved_run.h"
#include "train/generator.h"

namespace trireme {
namespace {

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, Logits) {
  const std::string path = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/exchange/" + GetParam();
  const nlohmann::json golden = nlohmann::json::parse(test::slurp(path + "/golden.json"));
  const test::ScratchFolder folder;
  const ImportReport report = import_run({.source = WeightSource::hf, .from = path}, folder / "run");
  EXPECT_NE(report.no_tokenizer, "");
  const SavedRun run = open_saved_run(folder / "run");
  Generator generator(load_config(folder / "run/config.toml"), run.reader, 1);
  for (size_t t = 0; t < golden["ids"].size(); ++t) {
    const auto id = golden["ids"][t].get<uint32_t>();
    const std::span<const float> logits = generator.feed(std::span(&id, 1));
    const auto expected = golden["logits"][t].get<std::vector<float>>();
    ASSERT_EQ(logits.size(), expected.size());
    // Sums of up to 48 products of numbers around 1, through two layers: a few hundred epsilons.
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(logits[i], expected[i], 2e-5) << "token " << t << ", logit " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Golden,
                         ::testing::Values("gpt2", "llama", "qwen3", "mixtral", "qwen3_moe", "deepseek_v3"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace trireme
