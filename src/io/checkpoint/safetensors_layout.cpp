// Decides where each tensor lies in a safetensors file and writes the header.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

// The file's name of a dtype, and its rank in the order of the reference writer, which goes from the highest
// to the lowest.
struct StoredName {
  DType dtype;
  const char* name;
  int rank;
};
constexpr std::array kNames = {StoredName{DType::u8, "U8", 0}, StoredName{DType::bf16, "BF16", 1},
                               StoredName{DType::i32, "I32", 2}, StoredName{DType::f32, "F32", 3},
                               StoredName{DType::f64, "F64", 4}};

const StoredName& stored(DType dtype) {
  const auto it =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& row) { return row.dtype == dtype; });
  CHECK(it != kNames.end(), "dtype {} has no safetensors name", name_of(dtype));
  return *it;
}
}  // namespace

SafetensorsLayout lay_out_safetensors(std::span<const TensorPiece> pieces,
                                      const std::map<std::string, std::string>& metadata) {
  SafetensorsLayout layout;
  layout.order.resize(pieces.size());
  std::iota(layout.order.begin(), layout.order.end(), size_t{0});
  std::sort(layout.order.begin(), layout.order.end(), [&](size_t a, size_t b) {
    const int rank_a = stored(pieces[a].dtype).rank;
    const int rank_b = stored(pieces[b].dtype).rank;
    return rank_a != rank_b ? rank_a > rank_b : pieces[a].name < pieces[b].name;
  });

  // Written by hand: an ordered JSON object would search all keys for each new one.
  std::string json = "{";
  if (!metadata.empty()) json += "\"__metadata__\":" + nlohmann::json(metadata).dump() + ",";
  std::set<std::string_view> names{"__metadata__"};
  layout.begins.resize(pieces.size());
  int64_t at = 0;
  for (const size_t i : layout.order) {
    const TensorPiece& piece = pieces[i];
    const int64_t bytes = count(piece.shape) * size_of(piece.dtype);
    CHECK(static_cast<int64_t>(piece.bytes.size()) == bytes, "{}: {} bytes for {} [{}]", piece.name,
          piece.bytes.size(), name_of(piece.dtype), to_string(piece.shape));
    CHECK(names.insert(piece.name).second, "tensor name {} is taken", piece.name);
    json += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}},)",
                        nlohmann::json(piece.name).dump(), stored(piece.dtype).name, to_string(piece.shape),
                        at, at + bytes);
    layout.begins[i] = at;
    at += bytes;
  }
  if (json.back() == ',') json.pop_back();
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const uint64_t length = json.size();
  layout.head.assign(reinterpret_cast<const char*>(&length), 8);
  layout.head += json;
  for (int64_t& begin : layout.begins) begin += static_cast<int64_t>(layout.head.size());
  layout.file_bytes = static_cast<int64_t>(layout.head.size()) + at;
  return layout;
}

}  // namespace trireme
