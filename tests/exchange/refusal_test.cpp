// Weights of another model, files that are not whole, and models that the others have no form for: refused,
// by name, with the cure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstring>
#include <limits>

#include "exchange/export_hf.h"
#include "exchange/export_llmc.h"
#include "exchange/import_run.h"
#include "exchange/initial_weights.h"
#include "exchange/saved_model.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

using ::testing::HasSubstr;

// A Hugging Face folder whose tensors are as a test wants them, all 0.
struct FakeTensor {
  std::string dtype;
  Shape shape;
};
using FakeTensors = std::map<std::string, FakeTensor>;

int64_t bytes_of(const FakeTensor& tensor) {
  const int64_t width = tensor.dtype == "F32" || tensor.dtype == "I32"                             ? 4
                        : tensor.dtype == "F64" || tensor.dtype == "I64"                           ? 8
                        : tensor.dtype == "F16" || tensor.dtype == "BF16" || tensor.dtype == "I16" ? 2
                                                                                                   : 1;
  return width * count(tensor.shape);
}

void write_safetensors(const std::string& path, const FakeTensors& tensors) {
  std::string header = "{";
  int64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          header == "{" ? "" : ",", name, tensor.dtype, to_string(tensor.shape), at,
                          at + bytes_of(tensor));
    at += bytes_of(tensor);
  }
  header += "}";
  const uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  test::spill(path, file + header + std::string(static_cast<size_t>(at), '\0'));
}

class Refusal : public ::testing::Test {
 protected:
  // Exports a model, and lets a test spoil its tensors.
  FakeTensors tensors_of(const std::string& model) {
    save_drawn(folder_ / "run", spec_of(model_texts().at(model)));
    export_hf(open_saved_run(folder_ / "run"), folder_ / "hf", {});
    FakeTensors tensors;
    const SafetensorsFile file(folder_ / "hf/model.safetensors");
    for (const SafetensorsEntry& entry : file.header().entries)
      tensors[entry.name] = {entry.dtype, entry.shape};
    return tensors;
  }
  std::string import_of(const FakeTensors& tensors) {
    write_safetensors(folder_ / "hf/model.safetensors", tensors);
    return refusal(
        [&] { import_run({.source = WeightSource::hf, .from = folder_ / "hf"}, folder_ / "back"); });
  }
  // Of `model` with the keys changed.
  std::string export_of(const std::string& model, const std::string& keys = "") {
    const test::ScratchFolder folder;
    std::string text = model_texts().at(model);
    text.insert(text.find('\n') + 1, keys);
    save_drawn(folder / "run", spec_of(text));
    return refusal([&] { export_hf(open_saved_run(folder / "run"), folder / "out", {}); });
  }

  test::ScratchFolder folder_;
};

TEST_F(Refusal, TensorsOfAnotherModel) {
  FakeTensors tensors = tensors_of("llama");
  const std::string q = "model.layers.1.self_attn.q_proj.weight";
  EXPECT_EQ(import_of(tensors), "no error");
  EXPECT_THAT(import_of(tensors), HasSubstr("is there already; name another place or remove it"));
  std::filesystem::remove_all(folder_ / "back");

  FakeTensors missing = tensors;
  missing.erase(q);
  EXPECT_THAT(import_of(missing), HasSubstr("hf has no tensor " + q +
                                            " [16,16], which the model needs; the nearest is model.layers."));
  FakeTensors other = tensors;
  other[q].shape = {16, 20};
  EXPECT_THAT(import_of(other), HasSubstr(q + " is [16,20], but the model needs [16,16]"));
  FakeTensors extra = tensors;
  extra["model.layers.2.self_attn.q_proj.weight"] = {"F32", {16, 16}};
  EXPECT_THAT(import_of(extra),
              HasSubstr("model.layers.2.self_attn.q_proj.weight [16,16] that the model has no"));
  FakeTensors vocab = tensors;
  vocab["model.embed_tokens.weight"].shape = {41, 16};
  EXPECT_THAT(import_of(vocab),
              HasSubstr("model.embed_tokens.weight is [41,16], but the model needs [40,16]"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "back"));
}

TEST_F(Refusal, ElementsThatAreNoWeights) {
  for (const std::string dtype : {"F8_E4M3", "I16", "I64"}) {
    FakeTensors tensors = tensors_of("llama");
    tensors["model.norm.weight"].dtype = dtype;
    EXPECT_THAT(import_of(tensors), HasSubstr("model.norm.weight is " + dtype +
                                              "; weights are read from F32, BF16, F16 and F64"));
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::remove_all(folder_ / "hf");
  }
}

TEST_F(Refusal, FilesThatAreNotWhole) {
  tensors_of("llama");
  const std::string path = folder_ / "hf/model.safetensors", bytes = test::slurp(path);
  const auto import = [&] {
    import_run({.source = WeightSource::hf, .from = folder_ / "hf"}, folder_ / "back");
  };
  test::spill(path, bytes.substr(0, bytes.size() - 4));
  EXPECT_THROW(import(), EnvError);
  test::spill(path, bytes + "1234");
  EXPECT_THROW(import(), EnvError);
  test::spill(folder_ / "hf/model.safetensors.index.json",
              R"({"weight_map": {"lost.weight": "model.safetensors"}})");
  test::spill(path, bytes);
  EXPECT_THAT(refusal(import),
              HasSubstr("names the tensor lost.weight, which model.safetensors does not have"));
  test::spill(folder_ / "hf/model.safetensors.index.json", R"({"weight_map": {"a": "../a.safetensors"}})");
  EXPECT_THAT(refusal(import), HasSubstr("which is no name of a file beside it"));
  test::spill(folder_ / "hf/model.safetensors.index.json", "[]");
  EXPECT_THAT(refusal(import), HasSubstr("no index of safetensors files"));
  std::filesystem::remove(folder_ / "hf/model.safetensors.index.json");
  std::filesystem::remove(path);
  EXPECT_THAT(refusal(import), HasSubstr("has neither model.safetensors nor"));
}

TEST_F(Refusal, FoldersThatAreNotWhole) {
  const auto import_from = [&](WeightSource source, const std::string& from) {
    return refusal([&] { import_run({.source = source, .from = from}, folder_ / "back"); });
  };
  const auto hf = [&] { return import_from(WeightSource::hf, folder_ / "hf"); };
  EXPECT_THAT(hf(), HasSubstr("there is no folder"));
  tensors_of("llama");
  EXPECT_THAT(import_from(WeightSource::hf, folder_ / "hf/config.json"), HasSubstr("there is no folder"));
  EXPECT_THAT(import_from(WeightSource::llmc, folder_ / "a.bin"), HasSubstr("there is no file"));
  EXPECT_THAT(import_from(WeightSource::llmc, folder_ / "hf"), HasSubstr("there is no file"));

  const std::string index = folder_ / "hf/model.safetensors.index.json";
  test::spill(index, R"({"weight_map": {"a": "model-00002-of-00002.safetensors"}})");
  EXPECT_THAT(hf(), HasSubstr("names the file model-00002-of-00002.safetensors, which is not there"));
  std::filesystem::remove(index);
  for (const std::string name : {"config.json", "tokenizer.json", "model.safetensors.index.json"}) {
    const std::string path = folder_ / ("hf/" + name);
    const bool was_there = std::filesystem::exists(path);
    const std::string bytes = was_there ? test::slurp(path) : "";
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(hf(), HasSubstr(name + " is no file"));
    std::filesystem::remove(path);
    if (was_there) test::spill(path, bytes);
  }
  std::filesystem::remove(folder_ / "hf/config.json");
  EXPECT_THAT(hf(), HasSubstr("hf has no config.json, which says what its model is"));
  std::filesystem::remove(folder_ / "hf/model.safetensors");
  ASSERT_EQ(::mkfifo((folder_ / "hf/model.safetensors").c_str(), 0600), 0);
  test::spill(folder_ / "hf/config.json", "{}");
  EXPECT_THROW(hf(), EnvError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "back"));
}

TEST_F(Refusal, ElementsThatAreNoNumbers) {
  tensors_of("llama");
  const std::string path = folder_ / "hf/model.safetensors", bytes = test::slurp(path);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::string changed = bytes;
    std::memcpy(changed.data() + changed.size() - 8, &bad, 4);  // of the last tensor
    test::spill(path, changed);
    const auto said = [&](const auto& call) {
      try {
        call();
      } catch (const EnvError& error) {
        return std::string(error.what());
      }
      return std::string("no error");
    };
    const RunSpec spec = spec_of(model_texts().at("llama"));
    const std::string why = fmt::format("model.norm.weight has the element {}", bad);
    EXPECT_THAT(
        said([&] { import_run({.source = WeightSource::hf, .from = folder_ / "hf"}, folder_ / "back"); }),
        HasSubstr(why));
    EXPECT_THAT(said([&] {
                  std::vector<float> values(16);
                  InitialWeights(folder_ / "hf", spec.model).read("final_norm.weight", 0, values);
                }),
                HasSubstr(why));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "back"));
}

TEST_F(Refusal, ACheckpointThatWasNeverCommitted) {
  tensors_of("llama");
  const std::string checkpoint = folder_ / "run/checkpoints/step-00000003";
  std::filesystem::remove(checkpoint + "/COMMITTED");
  const RunSpec spec = spec_of(model_texts().at("llama"));
  for (const std::string& path : {checkpoint, checkpoint + "/"}) {
    EXPECT_THROW(open_saved_run(path), EnvError);
    EXPECT_THROW(InitialWeights(path, spec.model), EnvError);
  }
}

// Old files have neither the prefix nor sense: they carry masks along.
TEST_F(Refusal, OldNamesOfGpt2AreRead) {
  FakeTensors tensors = tensors_of("gpt2"), old;
  for (const auto& [name, tensor] : tensors) old[name.substr(std::strlen("transformer."))] = tensor;
  old["h.0.attn.bias"] = {"U8", {1, 1, 16, 16}};
  old["h.1.attn.masked_bias"] = {"F32", {}};
  EXPECT_EQ(import_of(old), "no error");
}

TEST_F(Refusal, AHeadThatIsNoCopy) {
  const FakeTensors tensors = tensors_of("gpt2");
  FakeTensors with_head = tensors;
  with_head["lm_head.weight"] = {"F32", {40, 16}};
  EXPECT_EQ(import_of(with_head), "no error");  // both are 0
  std::filesystem::remove_all(folder_ / "back");
  write_safetensors(folder_ / "hf/model.safetensors", with_head);
  std::string bytes = test::slurp(folder_ / "hf/model.safetensors");
  const size_t head = bytes.size() - static_cast<size_t>([&] {
                        int64_t after = 0;
                        for (const auto& [name, tensor] : with_head)
                          if (name >= "lm_head.weight") after += bytes_of(tensor);
                        return after;
                      }());
  bytes[head + 2000] = 1;
  test::spill(folder_ / "hf/model.safetensors", bytes);
  EXPECT_THAT(
      refusal([&] { import_run({.source = WeightSource::hf, .from = folder_ / "hf"}, folder_ / "back"); }),
      HasSubstr("lm_head.weight differs from the tensor of which the model makes it a copy"));
}

TEST_F(Refusal, KeysThatTransformersHasNoFormFor) {
  EXPECT_EQ(export_of("llama"), "no error");
  EXPECT_EQ(export_of("llama", "attn_softcap = 30.0\n"),
            "model.attn_softcap = 30 has no form in transformers' LlamaForCausalLM; use 0");
  EXPECT_EQ(export_of("gpt2", "logit_softcap = 30.0\n"),
            "model.logit_softcap = 30 has no form in transformers' GPT2LMHeadModel; use 0");
  EXPECT_THAT(export_of("llama", "window = 8\n"), HasSubstr("model.window = 8 has no form"));
  EXPECT_THAT(export_of("llama", "activation = \"relu2\"\n"),
              HasSubstr("model.activation = relu2 has no gate"));
  EXPECT_THAT(export_of("qwen3", "bias = true\n"),
              HasSubstr("model.bias = true has no place in transformers' Qwen3"));
  EXPECT_THAT(export_of("gpt2", "bias = false\n"), HasSubstr("it needs model.bias = true"));
  EXPECT_THAT(export_of("gpt2", "head_dim = 8\n"), HasSubstr("model.head_dim = 8"));
  EXPECT_THAT(export_of("gpt2", "kv_heads = 2\n"), HasSubstr("model.kv_heads = 2 differs"));
  EXPECT_THAT(export_of("llama", "rope_scaling = {kind = \"ntk\", factor = 2.0}\n"),
              HasSubstr("the same frequencies are kind = none with model.rope_theta = "));
  EXPECT_THAT(export_of("deepseek_half", "rope_theta = 5e4\n"), HasSubstr("no error"));
  EXPECT_THAT(export_of("mixtral", "init_std = 0.5\n"), HasSubstr("no error"));
}

TEST_F(Refusal, ExpertsThatTransformersHasNoFormFor) {
  const auto with = [&](const std::string& model, const std::string& from, const std::string& to) {
    const test::ScratchFolder folder;
    std::string text = model_texts().at(model);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << model << ": " << from;
    text.replace(at, from.size(), to);
    if (to.find("first_dense = 2") == 0) text.replace(text.find("layers = 2"), 10, "layers = 4");
    save_drawn(folder / "run", spec_of(text));
    return refusal([&] { export_hf(open_saved_run(folder / "run"), folder / "out", {}); });
  };
  EXPECT_THAT(with("mixtral", "softmax_order = \"after\"", "normalize = false"),
              HasSubstr("moe.normalize = false has no form"));
  EXPECT_THAT(with("mixtral", "softmax_order = \"after\"", "first_dense = 1"),
              HasSubstr("moe.first_dense = 1"));
  EXPECT_THAT(with("mixtral", "softmax_order = \"after\"", "scale = 2.0"),
              HasSubstr("moe.scale = 2 has no form"));
  EXPECT_THAT(with("mixtral", "softmax_order = \"after\"", "shared_ffn = 8"),
              HasSubstr("moe.shared_ffn = 8"));
  EXPECT_THAT(with("mixtral", "softmax_order = \"after\"", "score = \"sigmoid\""),
              HasSubstr("moe.score = sigmoid with model.family = llama"));
  EXPECT_THAT(with("deepseek", "shared_ffn = 16", "shared_ffn = 12"),
              HasSubstr("moe.shared_ffn = 12 is not"));
  EXPECT_THAT(with("deepseek", "norm_eps = 1e-6", "norm_eps = 1e-5"), HasSubstr("model.norm_eps = 1e-05"));
  EXPECT_THAT(with("deepseek", "score = \"sigmoid\"\ngroups = 2\ntop_groups = 1\n", ""),
              HasSubstr("moe.score = softmax with model.family = deepseek"));
  EXPECT_THAT(with("deepseek", "first_dense = 1", "every = 2"), HasSubstr("moe.every = 2 has no place"));
  EXPECT_THAT(with("qwen3_moe_every", "layers = 2", "layers = 3"), HasSubstr("no error"));
  EXPECT_THAT(with("qwen3_moe", "first_dense = 1", "first_dense = 2\nevery = 2"), HasSubstr("moe.every = 2"));
}

TEST_F(Refusal, NothingIsOverwritten) {
  tensors_of("gpt2");
  const auto before = files_in(folder_ / "hf");
  const SavedRun run = open_saved_run(folder_ / "run");
  EXPECT_THAT(refusal([&] { export_hf(run, folder_ / "hf", {}); }), HasSubstr("hf is there already"));
  EXPECT_THAT(refusal([&] { export_llmc(run, folder_ / "hf/config.json", 3); }),
              HasSubstr("is there already"));
  EXPECT_EQ(files_in(folder_ / "hf"), before);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_THAT(refusal([&] { export_llmc(run, folder_ / "empty", 3); }), HasSubstr("is there already"));
  EXPECT_EQ(refusal([&] { export_hf(run, "", {}); }), "the place to write to is empty; name a folder");
  EXPECT_EQ(refusal([&] { export_llmc(run, "", 3); }), "the place to write to is empty; name a file");
  EXPECT_EQ(refusal([&] { export_hf(run, folder_ / "empty", {}); }), "no error");
  EXPECT_EQ(files_in(folder_ / "empty"), before);
}

TEST_F(Refusal, RunsWithoutAName) {
  tensors_of("gpt2");
  for (const std::string out : {"", ".", "/", "..", "a/.."})
    EXPECT_EQ(refusal([&] { import_run({.source = WeightSource::hf, .from = folder_ / "hf"}, out); }),
              "--out \"" + out + "\" has no name for the run; write it like --out runs/gpt2");
}

TEST_F(Refusal, LlmcFiles) {
  tensors_of("gpt2");
  export_llmc(open_saved_run(folder_ / "run"), folder_ / "a.bin", 3);
  const std::string bytes = test::slurp(folder_ / "a.bin");
  const auto import_with = [&](size_t word, int32_t value) {
    std::string changed = bytes;
    std::memcpy(changed.data() + word * 4, &value, 4);
    test::spill(folder_ / "b.bin", changed);
    return refusal(
        [&] { import_run({.source = WeightSource::llmc, .from = folder_ / "b.bin"}, folder_ / "back"); });
  };
  EXPECT_THAT(import_with(0, 20240803), HasSubstr("is llm.c's Llama 3, which is not read"));
  EXPECT_THAT(import_with(0, 1), HasSubstr("begins with 1, but llm.c's model files with 20240326"));
  EXPECT_THAT(import_with(1, 2), HasSubstr("is of version 2; 3 (f32) and 5 (bf16) are read"));
  EXPECT_THAT(import_with(4, 0), HasSubstr("a size of 0 in its header"));
  EXPECT_THAT(import_with(7, 39), HasSubstr("39 padded rows are fewer than the vocabulary of 40"));
  EXPECT_THROW(import_with(4, 3), EnvError);  // three layers in the bytes of two
  for (const size_t kept : {4, 32, 1023}) {
    test::spill(folder_ / "b.bin", bytes.substr(0, kept));
    EXPECT_THROW(import_run({.source = WeightSource::llmc, .from = folder_ / "b.bin"}, folder_ / "back"),
                 EnvError)
        << kept;
  }
  for (const auto& [model, keys] :
       std::map<std::string, std::string>{{"model.ffn = 16", "ffn = 16\n"},
                                          {"model.tie_embeddings", "tie_embeddings = false\n"},
                                          {"model.bias", "bias = false\n"},
                                          {"model.activation = gelu ", "activation = \"gelu\"\n"},
                                          {"model.norm_eps = 1e-06", "norm_eps = 1e-6\n"},
                                          {"model.window = 4", "window = 4\n"}}) {
    const test::ScratchFolder folder;
    save_drawn(folder / "run", spec_of(model_texts().at("gpt2") + keys));
    EXPECT_THAT(refusal([&] { export_llmc(open_saved_run(folder / "run"), folder / "out", 3); }),
                HasSubstr(model));
  }
}

TEST_F(Refusal, InitialWeightsOfAnotherModel) {
  tensors_of("llama");
  export_hf(open_saved_run(folder_ / "run"), folder_ / "out", {});
  const auto with = [&](const std::string& source, const std::string& keys) {
    std::string text = model_texts().at("llama");
    for (const std::string key : {"heads = 4\n", "vocab = 40\n"})
      if (keys.find(key.substr(0, 5)) == 0) text.erase(text.find(key), key.size());
    text.insert(text.find('\n') + 1, keys);
    return refusal([&] { InitialWeights(folder_ / source, spec_of(text).model); });
  };
  for (const std::string source : {"run", "out"}) {
    EXPECT_EQ(with(source, ""), "no error");
    EXPECT_EQ(with(source, "rope_theta = 5e5\n"), "no error");  // reaches further
    EXPECT_THAT(with(source, "vocab = 41\n"), HasSubstr("model.vocab = 41, but"));
    // The same shapes, cut into other heads.
    EXPECT_THAT(with(source, "heads = 8\nhead_dim = 2\n"), HasSubstr("model.heads = 8, but"));
    EXPECT_THAT(with(source, "qk_norm = true\n"), HasSubstr("model.qk_norm = true, but"));
  }
  std::string text = model_texts().at("llama");
  text.replace(text.find("\"half\""), 6, "\"interleaved\"");
  EXPECT_THAT(refusal([&] { InitialWeights(folder_ / "run", spec_of(text).model); }),
              HasSubstr("model.rope_layout = interleaved, but"));
  EXPECT_EQ(refusal([&] { InitialWeights(folder_ / "out", spec_of(text).model); }), "no error");
  EXPECT_THAT(refusal([&] { InitialWeights(folder_ / "nowhere", spec_of(text).model); }),
              HasSubstr("there are no weights at"));
  EXPECT_THAT(refusal([&] { InitialWeights(folder_.path(), spec_of(text).model); }),
              HasSubstr("is no run, no"));
}

}  // namespace
}  // namespace trireme
