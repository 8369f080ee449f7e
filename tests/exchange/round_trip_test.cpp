// What is exported comes back as it was, byte for byte, and is exported to the same files again.
#include <gtest/gtest.h>

#include <cstring>

#include "exchange/export_hf.h"
#include "exchange/export_llmc.h"
#include "exchange/import_run.h"
#include "exchange/initial_weights.h"
#include "exchange/saved_model.h"

namespace trireme {
namespace {

class RoundTrip : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string& text() const { return model_texts().at(GetParam()); }
  test::ScratchFolder folder_;
};

TEST_P(RoundTrip, HuggingFace) {
  const RunSpec spec = spec_of(text());
  save_drawn(folder_ / "run", spec);
  const HfExport shards{.max_shard_bytes = 4000};
  const ExportReport report = export_hf(open_saved_run(folder_ / "run"), folder_ / "out", shards);
  EXPECT_GT(report.files, 1);
  test::spill(folder_ / "a.toml", config_text(text()));
  import_run({.source = WeightSource::hf, .from = folder_ / "out", .config = folder_ / "a.toml"},
             folder_ / "back");
  EXPECT_EQ(saved_tensors(folder_ / "back"), drawn_tensors(spec.model));
  export_hf(open_saved_run(folder_ / "back"), folder_ / "again", shards);
  EXPECT_EQ(files_in(folder_ / "again"), files_in(folder_ / "out"));
}

// Without a config the model is read from config.json: the same function, and what it exports is the same.
TEST_P(RoundTrip, HuggingFaceByItsOwnConfig) {
  save_drawn(folder_ / "run", spec_of(text()));
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const std::string name = std::string(name_of(dtype));
    export_hf(open_saved_run(folder_ / "run"), folder_ / (name + "-out"), {.dtype = dtype});
    import_run({.source = WeightSource::hf, .from = folder_ / (name + "-out")}, folder_ / (name + "-back"));
    export_hf(open_saved_run(folder_ / (name + "-back")), folder_ / (name + "-again"), {.dtype = dtype});
    EXPECT_EQ(files_in(folder_ / (name + "-again")), files_in(folder_ / (name + "-out")));
  }
}

// Any range of any parameter, from a folder of theirs and from a run of ours.
TEST_P(RoundTrip, InitialWeightsInParts) {
  const RunSpec spec = spec_of(text());
  save_drawn(folder_ / "run", spec);
  export_hf(open_saved_run(folder_ / "run"), folder_ / "out", {});
  const Tensors expected = drawn_tensors(spec.model);
  for (const std::string source : {"out", "run"}) {
    const InitialWeights weights(folder_ / source, spec.model);
    for (const auto& [name, values] : expected) {
      const auto n = static_cast<int64_t>(values.size());
      for (const int64_t step : {int64_t{7}, int64_t{37}, n})
        for (int64_t first = 0; first < n; first += step) {
          std::vector<float> part(static_cast<size_t>(std::min(step, n - first)), -1.0f);
          weights.read(name, first, part);
          ASSERT_EQ(part, std::vector<float>(values.begin() + first,
                                             values.begin() + first + static_cast<long>(part.size())))
              << source << " " << name << " from " << first;
        }
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, text] : model_texts()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, RoundTrip, ::testing::ValuesIn(names()),
                         [](const auto& instance) { return instance.param; });

class LlmcRoundTrip : public ::testing::TestWithParam<int32_t> {};

TEST_P(LlmcRoundTrip, SameBytes) {
  const test::ScratchFolder folder;
  const RunSpec spec = spec_of(model_texts().at("gpt2"));
  save_drawn(folder / "run", spec);
  export_llmc(open_saved_run(folder / "run"), folder / "a.bin", GetParam());
  import_run({.source = WeightSource::llmc, .from = folder / "a.bin"}, folder / "back");
  Tensors expected = drawn_tensors(spec.model);
  if (GetParam() == 5)
    for (auto& [name, values] : expected)
      for (float& value : values) value = to_float(to_bf16(value));
  EXPECT_EQ(saved_tensors(folder / "back"), expected);
  export_llmc(open_saved_run(folder / "back"), folder / "b.bin", GetParam());
  EXPECT_EQ(test::slurp(folder / "b.bin"), test::slurp(folder / "a.bin"));

  // 256 integers, the vocabulary of 40 filled up to 128 rows of zeros, then the rest.
  const std::string bytes = test::slurp(folder / "a.bin");
  const int64_t width = GetParam() == 5 ? 2 : 4;
  EXPECT_EQ(static_cast<int64_t>(bytes.size()),
            1024 + (parameter_count(build_model(spec.model, {})) + 88 * 16) * width);
  const std::vector<int32_t> head = {20240326, GetParam(), 16, 40, 2, 4, 16, 128};
  EXPECT_EQ(std::memcmp(bytes.data(), head.data(), head.size() * 4), 0);
  const auto padding =
      bytes.substr(static_cast<size_t>(1024 + 40 * 16 * width), static_cast<size_t>(88 * 16 * width));
  EXPECT_EQ(padding, std::string(padding.size(), '\0'));
}

INSTANTIATE_TEST_SUITE_P(Versions, LlmcRoundTrip, ::testing::Values(3, 5));

}  // namespace
}  // namespace trireme
