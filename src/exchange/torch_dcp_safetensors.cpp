// DCP_SHARDING_INFO in a file's metadata is the JSON text {"tensor": {"saved_offsets": [row, column, ...]}},
// an entry for each tensor of the file. How large the whole tensor is follows from where its pieces end.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "exchange/box_cover.h"
#include "exchange/torch_dcp.h"
#include "exchange/torch_dcp_metadata.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSharding = "DCP_SHARDING_INFO";

std::vector<std::string> safetensors_in(const std::string& dir) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(".safetensors")) paths.push_back(dir + "/" + name);
  }
  if (error) fail_env("cannot list {}: {}", dir, error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<ForeignDType> dtype_of_entry(const SafetensorsEntry& entry) {
  for (const ForeignDType dtype :
       {ForeignDType::f32, ForeignDType::bf16, ForeignDType::f16, ForeignDType::f64})
    if (entry.dtype == name_of(dtype)) return dtype;
  return std::nullopt;
}

nlohmann::json parse_sharding(const SafetensorsHeader& header, const std::string& file) {
  const auto it = header.metadata.find(kSharding);
  if (it == header.metadata.end())
    fail_user(
        "{} does not say where in its tensors its entries lie ({}): it is no part of a torch-dcp folder; "
        "read it "
        "as one of Hugging Face's",
        file, kSharding);
  constexpr size_t kMaxNesting = 4;
  size_t deepest = 0;
  const auto bound = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deepest = std::max(deepest, static_cast<size_t>(depth));
    if (deepest > kMaxNesting) fail_env("{}: {} is nested too deeply", file, kSharding);
    return true;
  };
  nlohmann::json sharding = nlohmann::json::parse(it->second, bound, /*allow_exceptions=*/false);
  if (!sharding.is_object()) fail_env("{}: {} is no JSON object", file, kSharding);
  return sharding;
}

Shape offset_of(const nlohmann::json& sharding, const SafetensorsEntry& entry, const std::string& file) {
  const auto it = sharding.find(entry.name);
  const bool has_offsets = it != sharding.end() && it->is_object() && it->contains("saved_offsets") &&
                           it->at("saved_offsets").is_array();
  if (!has_offsets) fail_env("{}: tensor {} has no saved_offsets in {}", file, entry.name, kSharding);
  Shape offset;
  for (const auto& value : it->at("saved_offsets")) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{INT64_MAX})
      fail_env("{}: tensor {}: an offset is {}", file, entry.name, value.dump());
    offset.push_back(value.get<int64_t>());
  }
  if (offset.size() != entry.shape.size())
    fail_env("{}: tensor {} [{}] has the offset [{}]", file, entry.name, to_string(entry.shape),
             to_string(offset));
  return offset;
}

// Adds the piece and makes the tensor as large as to hold it.
void add_piece(ForeignTensors& out, const SafetensorsEntry& entry, ForeignDType dtype, Shape offset) {
  const std::string& file = out.files.back();
  auto [it, added] = out.tensors.try_emplace(entry.name);
  ForeignTensor& tensor = it->second;
  if (added) tensor = {.dtype = dtype, .shape = Shape(entry.shape.size(), 0)};
  if (tensor.dtype != dtype || tensor.shape.size() != entry.shape.size())
    fail_env("{}: tensor {} is {} [{}] and something else in another file", file, entry.name, entry.dtype,
             to_string(entry.shape));
  for (size_t d = 0; d < offset.size(); ++d) {
    int64_t end = 0;
    if (__builtin_add_overflow(offset[d], entry.shape[d], &end))
      fail_env("{}: tensor {}: the offset [{}] overflows", file, entry.name, to_string(offset));
    tensor.shape[d] = std::max(tensor.shape[d], end);
  }
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return;
  tensor.pieces.push_back({.file = out.files.size() - 1,
                           .begin = entry.begin,
                           .offset = std::move(offset),
                           .shape = entry.shape});
}

void check_covers(const ForeignTensors& out) {
  for (const auto& [name, tensor] : out.tensors) {
    std::vector<Box> boxes;
    for (const ForeignPiece& piece : tensor.pieces) boxes.push_back({piece.offset, piece.shape});
    if (checked_count(tensor.shape) < 0) fail_env("{}: tensor {} overflows", out.from, name);
    if (const auto fault = cover_fault(tensor.shape, boxes))
      fail_env("{}: tensor {} [{}]: {}; is a file missing?", out.from, name, to_string(tensor.shape), *fault);
  }
}

}  // namespace

ForeignTensors read_dcp_safetensors(const std::string& dir, const TorchDcpOptions& options) {
  ForeignTensors out{.from = dir};
  size_t left_out = 0;
  for (const std::string& path : safetensors_in(dir)) {
    out.files.push_back(path);
    const SafetensorsFile file(path);
    const nlohmann::json sharding = parse_sharding(file.header(), path);
    for (const SafetensorsEntry& entry : file.header().entries) {
      const auto dtype = dtype_of_entry(entry);
      if (dtype && !is_of_optimizer(entry.name)) {
        add_piece(out, entry, *dtype, offset_of(sharding, entry, path));
      } else {
        ++left_out;
      }
    }
  }
  check_covers(out);
  if (options.on_note) {
    if (left_out > 0)
      options.on_note(
          fmt::format("left out: {} entries that are an optimizer's or of other dtypes than F32, BF16, F16 "
                      "and F64",
                      left_out));
    options.on_note("safetensors have no checksums: their bytes cannot be verified");
  }
  return out;
}

}  // namespace trireme
