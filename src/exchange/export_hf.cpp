// Tensors to shards, then files beside them. All under a name that is not the folder's until it is whole.
#include "exchange/export_hf.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/run_spec.h"
#include "exchange/hf_config_text.h"
#include "exchange/hf_tokenizer.h"
#include "exchange/staged_path.h"
#include "exchange/text_file.h"
#include "exchange/weight_files.h"
#include "io/checkpoint/safetensors.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {

// What goes into one file: indices of NameMap::foreign.
using Shard = std::vector<size_t>;

DType dtype_in(const ForeignParam& param, DType dtype) { return param.always_f32 ? DType::f32 : dtype; }

int64_t bytes_in(const ForeignParam& param, DType dtype) {
  return count(param.shape) * size_of(dtype_in(param, dtype));
}

std::vector<Shard> cut(const NameMap& map, const HfExport& options) {
  std::vector<Shard> shards(1);
  int64_t filled = 0;
  for (size_t i = 0; i < map.foreign.size(); ++i) {
    if (map.foreign[i].use == ForeignUse::accepted) continue;
    const int64_t bytes = bytes_in(map.foreign[i], options.dtype);
    if (filled + bytes > options.max_shard_bytes && !shards.back().empty()) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(i);
    filled += bytes;
  }
  return shards;
}

std::string shard_name(size_t shard, size_t shards) {
  if (shards == 1) return "model.safetensors";
  return fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
}

// Only sizes are asked of the pieces here.
SafetensorsLayout lay_out(const NameMap& map, const Shard& shard, DType dtype) {
  static constexpr std::byte kNowhere{};
  std::vector<TensorPiece> pieces;
  for (const size_t i : shard)
    pieces.push_back({map.foreign[i].name,
                      dtype_in(map.foreign[i], dtype),
                      map.foreign[i].shape,
                      {&kNowhere, static_cast<size_t>(bytes_in(map.foreign[i], dtype))}});
  return lay_out_safetensors(pieces, {{"format", "pt"}});
}

void write_weights(const CheckpointReader& reader, const NameMap& map, const std::vector<Shard>& shards,
                   DType dtype, const std::string& folder) {
  std::vector<SafetensorsLayout> layouts;
  std::vector<TensorPlace> places(map.foreign.size());
  for (size_t s = 0; s < shards.size(); ++s) {
    layouts.push_back(lay_out(map, shards[s], dtype));
    for (size_t k = 0; k < shards[s].size(); ++k)
      places[shards[s][k]] = {s, layouts[s].begins[k], dtype_in(map.foreign[shards[s][k]], dtype)};
  }
  std::vector<WeightFile> files;
  for (size_t s = 0; s < shards.size(); ++s)
    files.push_back({folder + "/" + shard_name(s, shards.size()), std::as_bytes(std::span(layouts[s].head)),
                     layouts[s].file_bytes});
  write_weight_files(reader, map, places, files);
}

std::string index_text(const NameMap& map, const std::vector<Shard>& shards, int64_t bytes) {
  nlohmann::json index;
  index["metadata"]["total_size"] = bytes;
  for (size_t s = 0; s < shards.size(); ++s)
    for (const size_t i : shards[s]) index["weight_map"][map.foreign[i].name] = shard_name(s, shards.size());
  return index.dump(2) + "\n";
}

}  // namespace

ExportReport export_hf(const SavedRun& run, const std::string& folder, const HfExport& options) {
  const CheckpointReader& reader = run.reader;
  const ModelSpec spec = parse_config(reader.meta().config_toml, reader.location()).model;
  std::optional<HfTokenizer> tokenizer;
  if (run.tokenizer) tokenizer = hf_tokenizer(*run.tokenizer, spec);
  const HfConfigText config =
      hf_config_text(spec, options.dtype, tokenizer ? tokenizer->end_of_text : std::nullopt);
  // DeepSeek's own code and most others know the interleaved form alone.
  const NameMap map =
      hf_name_map(spec, spec.family == Family::deepseek ? RopeLayout::interleaved : RopeLayout::half);
  StagedPath staged(folder, Staged::folder);
  make_folders(staged.path());

  const std::vector<Shard> shards = cut(map, options);
  ExportReport report{.files = static_cast<int64_t>(shards.size()), .tokenizer = tokenizer.has_value()};
  for (const Shard& shard : shards)
    for (const size_t i : shard) {
      ++report.tensors;
      report.bytes += bytes_in(map.foreign[i], options.dtype);
    }
  write_weights(reader, map, shards, options.dtype, staged.path());
  if (shards.size() > 1)
    write_text_file(staged.path() + "/model.safetensors.index.json", index_text(map, shards, report.bytes));
  write_text_file(staged.path() + "/config.json", config.config);
  write_text_file(staged.path() + "/generation_config.json", config.generation);
  if (tokenizer)
    for (const auto& [name, text] : tokenizer->files) write_text_file(staged.path() + "/" + name, text);
  sync_folder(staged.path());
  staged.publish();
  return report;
}

}  // namespace trireme
