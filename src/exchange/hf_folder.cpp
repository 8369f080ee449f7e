// Shards to one list of tensors.
#include "exchange/hf_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "exchange/mapped_weights.h"
#include "io/checkpoint/safetensors.h"
#include "io/files/whole_file.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kIndex = "model.safetensors.index.json";

// Pipes would be waited for.
void require_file(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    fail_user("{} is no file: the folder is not what transformers saved", path);
}

// Tensor to file, as the index has it.
std::map<std::string, std::string> read_index(const std::string& path) {
  std::map<std::string, std::string> files;
  try {
    const json index = json::parse(read_whole_file(path));
    for (const auto& [tensor, file] : index.at("weight_map").items()) files[tensor] = file.get<std::string>();
  } catch (const json::exception& error) {
    fail_user("{}: no index of safetensors files: {}", path, error.what());
  }
  for (const auto& [tensor, file] : files)
    if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..")
      fail_user("{}: {} lies in \"{}\", which is no name of a file beside it", path, tensor, file);
  return files;
}

ForeignDType foreign_dtype(const SafetensorsEntry& entry, const std::string& file) {
  if (entry.dtype == "F32") return ForeignDType::f32;
  if (entry.dtype == "BF16") return ForeignDType::bf16;
  if (entry.dtype == "F16") return ForeignDType::f16;
  if (entry.dtype == "F64") return ForeignDType::f64;
  fail_user("{}: {} is {}; weights are read from F32, BF16, F16 and F64: convert it to one of them", file,
            entry.name, entry.dtype);
}

void add_file(ForeignTensors& all, const std::string& path) {
  const SafetensorsFile file(path);
  all.files.push_back(path);
  for (const SafetensorsEntry& entry : file.header().entries) {
    if (is_buffer(entry.name)) continue;
    ForeignTensor tensor{foreign_dtype(entry, path), entry.shape, {}};
    tensor.pieces.push_back({all.files.size() - 1, entry.begin, Shape(entry.shape.size(), 0), entry.shape});
    if (!all.tensors.emplace(entry.name, std::move(tensor)).second)
      fail_user("{}: {} is in two files; keep one of them", path, entry.name);
  }
}

void add_shards(ForeignTensors& all, const std::string& folder) {
  const std::map<std::string, std::string> index = read_index(folder + "/" + kIndex);
  std::set<std::string> files;
  for (const auto& [tensor, file] : index) files.insert(file);
  for (const std::string& file : files) {
    std::error_code error;
    if (!fs::exists(folder + "/" + file, error))
      fail_user("{}/{} names the file {}, which is not there: the folder is not whole; bring it", folder,
                kIndex, file);
    add_file(all, folder + "/" + file);
  }
  for (const auto& [tensor, file] : index)
    if (all.tensors.count(tensor) == 0 && !is_buffer(tensor))
      fail_user("{}/{} names the tensor {}, which {} does not have: the folder is not whole", folder, kIndex,
                tensor, file);
}

void name_in_full(ForeignTensors& all) {
  if (all.tensors.count("wte.weight") == 0) return;
  std::map<std::string, ForeignTensor> named;
  for (auto& [name, tensor] : all.tensors)
    named[name == "lm_head.weight" ? name : "transformer." + name] = std::move(tensor);
  all.tensors = std::move(named);
}

}  // namespace

ForeignTensors read_hf_tensors(const std::string& folder) {
  ForeignTensors all;
  all.from = folder;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail_user("there is no folder {}: name the one that has config.json and model.safetensors in it", folder);
  for (const char* name : {"config.json", "tokenizer.json", kIndex}) require_file(folder + "/" + name);
  if (fs::exists(folder + "/" + kIndex, error))
    add_shards(all, folder);
  else if (fs::exists(folder + "/model.safetensors", error))
    add_file(all, folder + "/model.safetensors");
  else
    fail_user(
        "{} has neither model.safetensors nor {}; other forms of weights are not read: save the model "
        "with safe_serialization=True",
        folder, kIndex);
  if (!fs::exists(folder + "/config.json", error))
    fail_user("{} has no config.json, which says what its model is: bring it", folder);
  name_in_full(all);
  return all;
}

}  // namespace trireme
