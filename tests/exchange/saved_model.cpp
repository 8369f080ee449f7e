// The models, and checkpoints of them that nobody trained.
#include "exchange/saved_model.h"

#include "base/random.h"
#include "exchange/saved_run.h"
#include "io/store/directory_store.h"

namespace trireme {

const std::map<std::string, std::string>& model_texts() {
  static const std::string shape = "[model]\nlayers = 2\nwidth = 16\nheads = 4\nvocab = 40\ncontext = 16\n";
  static const std::string llama = shape + "family = \"llama\"\nkv_heads = 2\nffn = 24\n";
  static const std::string latent =
      "[model]\nlayers = 3\nwidth = 16\nheads = 4\nvocab = 40\ncontext = 16\nfamily = \"deepseek\"\n"
      "ffn = 24\nnorm_eps = 1e-6\n";
  static const std::string mla = "mla = {q_rank = 6, kv_rank = 8, nope_dim = 4, rope_dim = 4, v_dim = 6}\n";
  static const std::string moe = "[moe]\nexperts = 4\ntop_k = 2\nexpert_ffn = 8\n";
  static const std::string choice =
      moe + "score = \"sigmoid\"\ngroups = 2\ntop_groups = 1\nshared_ffn = 16\nfirst_dense = 1\n";
  static const std::string interleaved = "rope_layout = \"interleaved\"\n", half = "rope_layout = \"half\"\n";
  static const std::map<std::string, std::string> texts = {
      {"gpt2", shape + "family = \"gpt2\"\n"},
      {"gpt2_untied", shape + "family = \"gpt2\"\ntie_embeddings = false\nffn = 16\n"},
      {"llama", llama + half},
      {"llama_interleaved", llama + interleaved + "bias = true\ntie_embeddings = true\nhead_dim = 8\n"},
      {"qwen3", llama + half + "qk_norm = true\nwindow = 5\n"},
      {"qwen3_interleaved", llama + interleaved + "qk_norm = true\nhead_dim = 6\n"},
      {"mixtral", llama + half + moe + "softmax_order = \"after\"\n"},
      {"qwen3_moe", llama + half + "qk_norm = true\n" + moe + "first_dense = 1\n"},
      {"qwen3_moe_every", llama + interleaved + "qk_norm = true\n" + moe + "every = 2\nnormalize = false\n"},
      {"deepseek", latent + mla + interleaved + "rope_scaling = {kind = \"yarn\", factor = 4.0}\n" + choice},
      {"deepseek_half",
       latent + half + "mla = {q_rank = 0, kv_rank = 8, nope_dim = 4, rope_dim = 6, v_dim = 4}\n" + choice},
      {"deepseek_further", latent + mla + half + "mtp = 1\n" + choice},
  };
  return texts;
}

std::string config_text(const std::string& model) {
  return model +
         "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 1\n[optimizer]\nlr = 1e-3\n"
         "[precision]\ncompute = \"fp32\"\n[run]\nname = \"a\"\nsteps = 1\nthreads = 1\n";
}

RunSpec spec_of(const std::string& model) { return parse_config(config_text(model), "test"); }

std::vector<ParamSpec> params_of(const ModelSpec& spec) {
  return build_model(spec, {.batch = 1, .seq_len = 1}).params;
}

namespace {

std::vector<float> drawn(const ParamSpec& param, Draw draw) {
  const RandomStream stream(11, "test/" + param.name);
  std::vector<float> values(static_cast<size_t>(count(param.shape)));
  const float gain = param.name.ends_with("norm.weight") ? 1.0f : 0.0f;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto u = static_cast<float>(stream.uniform(i));
    values[i] = draw == Draw::distinct ? u + 1e-3f * static_cast<float>(i) : gain + (u - 0.5f);
  }
  return values;
}

}  // namespace

Tensors drawn_tensors(const ModelSpec& spec, Draw draw) {
  Tensors tensors;
  for (const ParamSpec& param : params_of(spec)) {
    std::vector<float>& values = tensors[param.name] = drawn(param, draw);
    if (param.use.role != ParamRole::router_state) continue;
    const size_t kept = spec.moe.score == RouterScore::sigmoid ? values.size() / 2 : 0;
    std::fill(values.begin() + static_cast<long>(kept), values.end(), 0.0f);
  }
  return tensors;
}

void save_drawn(const std::string& run, const RunSpec& spec, Draw draw) {
  const Tensors tensors = drawn_tensors(spec.model, draw);
  std::vector<TensorPiece> pieces;
  for (const ParamSpec& param : params_of(spec.model))
    pieces.push_back(
        {"params/" + param.name, DType::f32, param.shape, std::as_bytes(std::span(tensors.at(param.name)))});
  CheckpointMeta meta;
  meta.step = 3;
  meta.config_toml = to_toml(spec);
  save_checkpoint(*open_directory_store(run + "/checkpoints"), meta, pieces, {});
}

Tensors saved_tensors(const std::string& run) {
  const SavedRun saved = open_saved_run(run);
  Tensors tensors;
  for (const StoredTensor& tensor : saved.reader.tensors()) {
    std::vector<float>& values = tensors[tensor.name.substr(7)];
    values.resize(static_cast<size_t>(count(tensor.shape)));
    saved.reader.read(tensor.name, DType::f32, tensor.shape, std::as_writable_bytes(std::span(values)));
  }
  return tensors;
}

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = test::slurp(entry.path().string());
  return files;
}

}  // namespace trireme
