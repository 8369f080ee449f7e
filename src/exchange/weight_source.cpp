// One branch per kind of source.
#include "exchange/weight_source.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "exchange/hf_folder.h"
#include "exchange/llmc_file.h"
#include "exchange/same_model.h"
#include "exchange/torch_dcp.h"
#include "exchange/torchtitan_names.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

bool there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Also of one that was never committed, which is to be said.
bool names_a_checkpoint(const std::string& path) {
  fs::path given = fs::path(path).lexically_normal();
  if (given.filename().empty()) given = given.parent_path();
  return step_of_name(given.filename().string()) && there(path + "/index.json");
}

MappedWeights open_hf(const std::string& path, const ModelSpec& spec) {
  ForeignTensors tensors = read_hf_tensors(path);
  const RunSpec hf = hf_spec(path, tensors);
  require_same_model(hf, path, spec);
  const RopeLayout rotary = spec.family == Family::deepseek ? hf.model.rope_layout : RopeLayout::half;
  return {hf_name_map(spec, rotary), std::move(tensors)};
}

MappedWeights open_llmc(const std::string& path, const ModelSpec& spec) {
  const LlmcHeader header = read_llmc_header(path), ours = llmc_header_of(spec, header.version);
  const auto require = [&](const char* key, int64_t have, int64_t need) {
    if (have != need)
      fail_user("{} = {}, but {} has a model with {}: use that, or other weights", key, need, path, have);
  };
  require("model.layers", header.layers, ours.layers);
  require("model.heads", header.heads, ours.heads);
  require("model.width", header.width, ours.width);
  require("model.vocab", header.vocab, ours.vocab);
  require("model.context", header.context, ours.context);
  NameMap map = llmc_name_map(spec, header.padded_vocab);
  ForeignTensors tensors = read_llmc_tensors(path, header, map);
  return {std::move(map), std::move(tensors)};
}

// What programs wrap their models in stands before each name: here for each model that is in the folder.
std::vector<std::string> wrappings_of(const ForeignTensors& tensors, const std::string& embedding) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : tensors.tensors)
    if (name == embedding || name.ends_with("." + embedding))
      found.push_back(name.substr(0, name.size() - embedding.size()));
  return found;
}

// Of several models (an average of the weights beside them) the plain one is meant.
std::string choose(const std::vector<std::string>& wrappings, const std::string& from) {
  if (wrappings.empty()) return "";
  if (wrappings.size() == 1) return wrappings[0];
  const auto is_plain = [](const std::string& wrapping) { return wrapping.empty() || wrapping == "model."; };
  if (std::ranges::count_if(wrappings, is_plain) == 1) return *std::ranges::find_if(wrappings, is_plain);
  fail_user("{} has several models, under \"{}\" and \"{}\": save one of them alone", from, wrappings[0],
            wrappings[1]);
}

// Tensors by the names of the map; what else was saved does not matter.
void strip_wrapping(ForeignTensors& tensors, const std::string& embedding, const OnNote& on_note) {
  std::vector<std::string> others = wrappings_of(tensors, embedding);
  const std::string wrapping = choose(others, tensors.from);
  std::erase(others, wrapping);
  others.insert(others.end(), {"optim", "lr_scheduler"});
  std::map<std::string, ForeignTensor> kept;
  std::vector<std::string> outside;
  for (auto& [name, tensor] : tensors.tensors) {
    const auto begins = [&own = name](const std::string& other) { return own.starts_with(other); };
    if (name.starts_with(wrapping) && std::ranges::none_of(others, begins))
      kept[name.substr(wrapping.size())] = std::move(tensor);
    else
      outside.push_back(name);
  }
  tensors.tensors = std::move(kept);
  if (!outside.empty() && on_note)
    on_note(fmt::format("left out: {} tensors that are not under \"{}\", the first is {}", outside.size(),
                        wrapping, outside[0]));
}

MappedWeights open_torch_dcp(const std::string& path, const ModelSpec& spec, const OnNote& on_note) {
  ForeignTensors tensors = read_torch_dcp(path, {.on_note = on_note});
  const bool meta = has_torchtitan_names(tensors);
  if (meta) tensors = rename_torchtitan(std::move(tensors)).tensors;
  NameMap map =
      meta ? meta_name_map(spec)
           : hf_name_map(spec, spec.family == Family::deepseek ? RopeLayout::interleaved : RopeLayout::half);
  strip_wrapping(tensors, map.foreign.at(map.pieces.at(0).foreign).name, on_note);
  return {std::move(map), std::move(tensors)};
}

}  // namespace

const char* name_of(WeightSource source) {
  constexpr const char* kNames[] = {"trireme", "hf", "llmc", "torch-dcp"};
  return kNames[static_cast<size_t>(source)];
}

WeightSource source_of(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    if (is_llmc_file(path)) return WeightSource::llmc;
    fail_user("{} is no file of llm.c's; name a folder for other weights", path);
  }
  if (!fs::is_directory(path, error)) fail_user("there are no weights at {}", path);
  if (names_a_checkpoint(path) || there(path + "/COMMITTED") || there(path + "/checkpoints"))
    return WeightSource::trireme;
  if (is_torch_dcp(path)) return WeightSource::torch_dcp;
  if (there(path + "/config.json")) return WeightSource::hf;
  if (!list_checkpoints(*open_directory_store(path)).empty()) return WeightSource::trireme;
  fail_user(
      "{} is no run, no checkpoint, no Hugging Face folder (it has no config.json) and no torch-dcp "
      "folder (it has no .metadata)",
      path);
}

MappedWeights open_foreign(WeightSource source, const std::string& path, const ModelSpec& spec,
                           const OnNote& on_note) {
  switch (source) {
    case WeightSource::hf:
      return open_hf(path, spec);
    case WeightSource::llmc:
      return open_llmc(path, spec);
    case WeightSource::torch_dcp:
      return open_torch_dcp(path, spec, on_note);
    case WeightSource::trireme:
      break;
  }
  CHECK(false, "{} has weights of our own", path);
}

}  // namespace trireme
