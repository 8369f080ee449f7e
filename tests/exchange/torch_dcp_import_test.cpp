// torch-dcp folders from end to end: the weights of one model that PyTorch saved under transformers' names
// and under torchtitan's come out as those of its Hugging Face folder. The goldens:
// tests/golden/torch_dcp/make_dcp_model.py.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/import_run.h"
#include "exchange/initial_weights.h"
#include "exchange/saved_model.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

const std::string kModel = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch_dcp/model/";

std::string model_text(const std::string& keys) {
  return "[model]\nfamily = \"llama\"\nlayers = 1\nwidth = 8\nheads = 2\nkv_heads = 1\ncontext = 16\n"
         "norm_eps = 1e-6\nrope_theta = 1e4\n" +
         keys;
}

const std::string kSizes = "vocab = 16\nffn = 12\n";

class TorchDcpImport : public ::testing::Test {
 protected:
  // Parameters of a run made with a config of these keys.
  Tensors import_of(WeightSource source, const std::string& from, const std::string& keys) {
    test::spill(folder_ / "a.toml", config_text(model_text(keys)));
    const std::string run = folder_ / ("run" + std::to_string(runs_++));
    import_run({.source = source, .from = from, .config = folder_ / "a.toml"}, run);
    return saved_tensors(run);
  }
  Tensors import_of(const std::string& name, const std::string& keys) {
    return import_of(name == "hf" ? WeightSource::hf : WeightSource::torch_dcp, kModel + name, keys);
  }
  std::string refused(const std::string& name, const std::string& keys) {
    return refusal([&] { import_of(name, keys); });
  }

  std::vector<std::string> names_of_runs() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().filename().string().starts_with("run")) names.push_back(entry.path().filename());
    return names;
  }

  test::ScratchFolder folder_;
  int runs_ = 0;
};

TEST_F(TorchDcpImport, TheSameWeightsUnderAnyNames) {
  for (const std::string layout : {"half", "interleaved"}) {
    const std::string keys = kSizes + "rope_layout = \"" + layout + "\"\n";
    const Tensors expected = import_of("hf", keys);
    EXPECT_EQ(import_of("dcp_hf", keys), expected) << layout;
    EXPECT_EQ(import_of("dcp_titan", keys), expected) << layout;
  }
  EXPECT_NE(import_of("hf", kSizes + "rope_layout = \"half\"\n"),
            import_of("hf", kSizes + "rope_layout = \"interleaved\"\n"));
}

TEST_F(TorchDcpImport, InitialWeightsAreTheSame) {
  const Tensors expected = import_of("hf", kSizes);
  for (const std::string name : {"dcp_hf", "dcp_titan"}) {
    const InitialWeights weights(kModel + name, spec_of(model_text(kSizes)).model);
    for (const auto& [param, values] : expected) {
      std::vector<float> read(values.size());
      weights.read(param, 0, read);
      EXPECT_EQ(read, values) << name << " " << param;
    }
  }
}

TEST_F(TorchDcpImport, WhatIsLeftOutIsSaid) {
  test::spill(folder_ / "a.toml", config_text(model_text(kSizes)));
  std::vector<std::string> notes;
  import_run({.source = WeightSource::torch_dcp,
              .from = kModel + "dcp_titan",
              .config = folder_ / "a.toml",
              .on_note = [&](const std::string& note) { notes.push_back(note); }},
             folder_ / "run");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("that are no tensors"), HasSubstr("that are an optimizer's")));
}

// A folder of one file in the form of HuggingFaceStorageWriter, with a model of zeros per wrapping.
void write_models(const std::string& folder, const std::vector<std::string>& wrappings) {
  const SafetensorsFile whole(kModel + "hf/model.safetensors");
  std::string header = "{", sharding;
  int64_t at = 0;
  for (const std::string& wrapping : wrappings)
    for (const SafetensorsEntry& entry : whole.header().entries) {
      const std::string name = wrapping + entry.name, offset = entry.shape.size() == 1 ? "0" : "0,0";
      sharding += fmt::format(R"({}\"{}\":{{\"saved_offsets\":[{}]}})", at == 0 ? "" : ",", name, offset);
      header += fmt::format(R"("{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}},)", name,
                            to_string(entry.shape), at, at + entry.end - entry.begin);
      at += entry.end - entry.begin;
    }
  header += R"("__metadata__":{"DCP_SHARDING_INFO":"{)" + sharding + R"(}"}})";
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  test::spill(folder + "/shard-00001-model-00001-of-00001.safetensors",
              bytes + header + std::string(static_cast<size_t>(at), '\0'));
}

TEST_F(TorchDcpImport, WhateverStandsBeforeTheNames) {
  const auto open = [&](const std::vector<std::string>& wrappings) {
    std::vector<std::string> notes;
    fs::create_directory(folder_ / "dcp");
    write_models(folder_ / "dcp", wrappings);
    const std::string refused = refusal([&] {
      InitialWeights(folder_ / "dcp", spec_of(model_text(kSizes)).model,
                     [&](const std::string& note) { notes.push_back(note); });
    });
    return refused + "; " + fmt::format("{}", fmt::join(notes, "; "));
  };
  EXPECT_THAT(open({""}), HasSubstr("no error"));
  EXPECT_THAT(open({"app.state."}), HasSubstr("no error"));
  EXPECT_THAT(open({"ema.", "model."}),
              AllOf(HasSubstr("no error"), HasSubstr("12 tensors that are not under \"model.\"")));
  EXPECT_THAT(open({"", "ema."}), AllOf(HasSubstr("no error"), HasSubstr("the first is ema.lm_head.weight")));
  EXPECT_THAT(open({"a.", "b."}), HasSubstr("several models, under \"a.\" and \"b.\""));
  EXPECT_THAT(open({"", "model."}), HasSubstr("several models"));
}

TEST_F(TorchDcpImport, AConfigThatDoesNotFit) {
  EXPECT_THAT(refused("dcp_hf", "vocab = 17\nffn = 12\n"),
              HasSubstr("embed_tokens.weight is [16,8], but the model needs [17,8]"));
  EXPECT_THAT(refused("dcp_titan", "vocab = 17\nffn = 12\n"),
              HasSubstr("tok_embeddings.weight is [16,8], but the model needs [17,8]"));
  EXPECT_THAT(refused("dcp_hf", "vocab = 16\nffn = 16\n"),
              HasSubstr("gate_proj.weight is [12,8], but the model needs [16,8]"));
  EXPECT_THAT(refused("dcp_titan", "vocab = 16\nffn = 16\n"),
              HasSubstr("feed_forward.w1.weight is [12,8], but the model needs [16,8]"));
  EXPECT_THAT(refused("dcp_hf", kSizes + "qk_norm = true\n"),
              HasSubstr("has no tensor model.layers.0.self_attn.q_norm.weight [4], which the model needs"));
  EXPECT_THAT(refused("dcp_titan", kSizes + "tie_embeddings = true\n"),
              HasSubstr("output.weight differs from the tensor of which the model makes it a copy"));
  EXPECT_THAT(names_of_runs(), IsEmpty());
}

// Flips a bit of these elements in the file of the folder that has them.
void damage(const std::string& folder, std::span<const float> elements) {
  const auto chars = std::as_bytes(elements);
  const std::string_view sought(reinterpret_cast<const char*>(chars.data()), chars.size());
  for (auto& [name, bytes] : files_in(folder)) {
    const size_t at = bytes.find(sought);
    if (at == std::string::npos) continue;
    bytes[at + 9] = static_cast<char>(bytes[at + 9] ^ 4);
    return test::spill(folder + "/" + name, bytes);
  }
  FAIL() << "nothing in " << folder << " has them";
}

TEST_F(TorchDcpImport, AByteThatFlipped) {
  const Tensors whole = import_of("hf", kSizes);
  for (const std::string name : {"dcp_hf", "dcp_titan"}) {
    const std::string copy = folder_ / name;
    fs::copy(kModel + name, copy);
    damage(copy, whole.at("layers.0.mlp.down.weight"));
    EXPECT_THROW(import_of(WeightSource::torch_dcp, copy, kSizes), EnvError) << name;
    EXPECT_THROW(InitialWeights(copy, spec_of(model_text(kSizes)).model), EnvError) << name;
  }
  EXPECT_EQ(names_of_runs(), std::vector<std::string>{"run0"});
}

}  // namespace
}  // namespace trireme
