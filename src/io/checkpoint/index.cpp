// CheckpointIndex <-> JSON.
#include "io/checkpoint/index.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme {
namespace {
using Json = nlohmann::ordered_json;  // as written
using Read = nlohmann::json;          // as read: finds a key among many fast, as an ordered one does not

constexpr int64_t kVersion = 1;
constexpr int64_t kMostCounted = int64_t{1} << 60;
constexpr int64_t kMostHeaderBytes = 100'000'008;  // of safetensors, its length included
constexpr const char* kFormat = "trireme-checkpoint";

Json checksums_json(const std::vector<Checksum>& checksums) {
  Json list = Json::array();
  for (const Checksum& checksum : checksums) list.push_back(to_hex(checksum));
  return list;
}

Json tensor_json(const IndexTensor& tensor) {
  Json pieces = Json::array();
  for (const IndexPiece& piece : tensor.pieces) {
    pieces.push_back({{"file", piece.file},
                      {"name", piece.name},
                      {"offset", piece.part.offset},
                      {"shape", piece.part.shape},
                      {"elements", {piece.part.first, piece.part.last}},
                      {"bytes", {piece.begin, piece.end}},
                      {"checksums", checksums_json(piece.checksums)}});
  }
  return {
      {"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"pieces", pieces}};
}

Json file_json(const IndexFile& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"header_bytes", file.header_bytes},
          {"header_checksum", to_hex(file.header_checksum)}};
}

// Typed access that says which key of which file is wrong.
struct Reader {
  const std::string& where;

  const Read& at(const Read& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail_env("{}: no {}", where, key);
    return object[key];
  }
  const Read& array(const Read& object, const char* key) const {
    const Read& value = at(object, key);
    if (!value.is_array()) fail_env("{}: {} is not a list", where, key);
    return value;
  }
  int64_t integer(const Read& value, const char* key) const {
    if (!value.is_number_integer() || value.get<int64_t>() < 0) {
      // A list or an object may be nested deeper than it can be printed.
      fail_env("{}: {} = {} is not an integer of at least 0", where, key,
               value.is_primitive() ? value.dump() : value.type_name());
    }
    return value.get<int64_t>();
  }
  // What the training loop goes on counting from: the sums of two never overflow.
  int64_t position_at(const Read& object, const char* key) const {
    const int64_t value = integer_at(object, key);
    if (value > kMostCounted) fail_env("{}: {} = {} is more than any run comes to", where, key, value);
    return value;
  }
  int64_t integer_at(const Read& object, const char* key) const { return integer(at(object, key), key); }
  std::string string(const Read& value, const char* key) const {
    if (!value.is_string()) fail_env("{}: {} is not a string", where, key);
    return value.get<std::string>();
  }
  std::string string_at(const Read& object, const char* key) const { return string(at(object, key), key); }
  Shape shape(const Read& object, const char* key) const {
    Shape shape;
    for (const Read& extent : array(object, key)) shape.push_back(integer(extent, key));
    return shape;
  }
  Checksum checksum(const Read& value, const char* key) const {
    const std::string text = string(value, key);
    Checksum sum;
    const char* middle = text.data() + 16;
    const bool right = text.size() == 32 &&
                       std::from_chars(text.data(), middle, sum.high, 16).ptr == middle &&
                       std::from_chars(middle, middle + 16, sum.low, 16).ptr == middle + 16;
    if (!right) fail_env("{}: {} is not a checksum of 32 hexadecimal digits", where, key);
    return sum;
  }
};

// Of a shape from the file: overflow is damage, not a bug.
int64_t checked_count(const Shape& shape, const IndexTensor& tensor, const std::string& where) {
  int64_t n = size_of(tensor.dtype);
  bool overflow = false;
  for (const int64_t extent : shape) overflow |= __builtin_mul_overflow(n, extent, &n);
  if (overflow) fail_env("{}: tensor {}: shape [{}] overflows", where, tensor.name, to_string(shape));
  return n / size_of(tensor.dtype);
}

void check_piece(const IndexPiece& piece, const IndexTensor& tensor, const CheckpointIndex& index,
                 const std::string& where) {
  const auto refuse = [&](const char* why) { fail_env("{}: tensor {}: {}", where, tensor.name, why); };
  if (piece.file >= static_cast<int64_t>(index.files.size()))
    refuse("a piece lies in a file that is not listed");
  const IndexFile& file = index.files[static_cast<size_t>(piece.file)];
  if (piece.begin < file.header_bytes || piece.begin > piece.end || piece.end > file.bytes) {
    refuse("a piece lies outside its file");
  }
  if (piece.part.offset.size() != tensor.shape.size() || piece.part.shape.size() != tensor.shape.size()) {
    refuse("a piece has another number of dims");
  }
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (piece.part.shape[d] > tensor.shape[d] ||
        piece.part.offset[d] > tensor.shape[d] - piece.part.shape[d]) {
      refuse("a piece lies outside its tensor");
    }
  }
  if (piece.part.first > piece.part.last ||
      piece.part.last > checked_count(piece.part.shape, tensor, where)) {
    refuse("a piece has more elements than its box");
  }
  if ((piece.part.last - piece.part.first) * size_of(tensor.dtype) != piece.end - piece.begin) {
    refuse("a piece's bytes and elements disagree");
  }
  if (static_cast<int64_t>(piece.checksums.size()) != block_count(piece, index.checksum_block_bytes)) {
    refuse("a piece has a wrong number of checksums");
  }
}

IndexTensor parse_tensor(const Read& json, const CheckpointIndex& index, const Reader& read) {
  IndexTensor tensor;
  tensor.name = read.string_at(json, "name");
  const std::string dtype = read.string_at(json, "dtype");
  const auto known = dtype_named(dtype);
  if (!known) fail_env("{}: tensor {} has the unknown dtype {}", read.where, tensor.name, dtype);
  tensor.dtype = *known;
  tensor.shape = read.shape(json, "shape");
  checked_count(tensor.shape, tensor, read.where);
  for (const Read& item : read.array(json, "pieces")) {
    IndexPiece piece;
    piece.file = read.integer_at(item, "file");
    piece.name = read.string_at(item, "name");
    piece.part.offset = read.shape(item, "offset");
    piece.part.shape = read.shape(item, "shape");
    const Shape elements = read.shape(item, "elements");
    const Shape bytes = read.shape(item, "bytes");
    if (elements.size() != 2 || bytes.size() != 2) {
      fail_env("{}: tensor {}: elements and bytes are pairs", read.where, tensor.name);
    }
    piece.part.first = elements[0];
    piece.part.last = elements[1];
    piece.begin = bytes[0];
    piece.end = bytes[1];
    for (const Read& sum : read.array(item, "checksums"))
      piece.checksums.push_back(read.checksum(sum, "checksums"));
    check_piece(piece, tensor, index, read.where);
    tensor.pieces.push_back(std::move(piece));
  }
  return tensor;
}

IndexFile parse_file(const Read& json, const Reader& read) {
  IndexFile file;
  file.name = read.string_at(json, "name");
  if (file.name.empty() || file.name.front() == '.' || file.name.find('/') != std::string::npos) {
    fail_env("{}: {} is no name for a file of a checkpoint", read.where, file.name);
  }
  file.bytes = read.integer_at(json, "bytes");
  file.header_bytes = read.integer_at(json, "header_bytes");
  file.header_checksum = read.checksum(read.at(json, "header_checksum"), "header_checksum");
  if (file.header_bytes > file.bytes) fail_env("{}: {} is all header", read.where, file.name);
  if (file.header_bytes > kMostHeaderBytes) {
    fail_env("{}: {}: header_bytes = {} is above {}, which no safetensors file has", read.where, file.name,
             file.header_bytes, kMostHeaderBytes);
  }
  return file;
}
}  // namespace

int64_t checksum_block_bytes(int64_t state_bytes) {
  constexpr int64_t kMostBlocks = int64_t{1} << 20;
  int64_t block = kChecksumBlockBytes;
  while (state_bytes / block >= kMostBlocks) block *= 2;
  return block;
}

int64_t block_count(const IndexPiece& piece, int64_t block_bytes) {
  const int64_t bytes = piece.end - piece.begin;
  return bytes / block_bytes + (bytes % block_bytes != 0);
}

// A value per line, and of a list an item per line: people read it too, and it may be long.
std::string to_json(const CheckpointIndex& index) {
  std::string text = "{";
  const auto add = [&](const char* key, const Json& value) {
    text += fmt::format("{}\n\"{}\": {}", text.size() > 1 ? "," : "", key, value.dump());
  };
  const auto add_list = [&](const char* key, const auto& items, const auto& json_of) {
    text += fmt::format(",\n\"{}\": [", key);
    for (size_t i = 0; i < items.size(); ++i)
      text += fmt::format("{}\n {}", i == 0 ? "" : ",", json_of(items[i]).dump());
    text += "]";
  };
  add("format", kFormat);
  add("version", kVersion);
  add("step", index.meta.step);
  add("data_position", index.meta.data_position);
  add("tokens_seen", index.meta.tokens_seen);
  add("skipped_steps", index.meta.skipped_steps);
  add("counts", Json(index.meta.counts));
  add("checksum", "xxh3-128");
  add("checksum_block_bytes", index.checksum_block_bytes);
  add_list("files", index.files, file_json);
  add_list("tensors", index.tensors, tensor_json);
  add("config", index.meta.config_toml);
  return text + "\n}\n";
}

CheckpointIndex parse_index(const std::string& text, const std::string& where) {
  const Read json = Read::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail_env("{} is not JSON", where);
  const Reader read{where};
  if (read.string_at(json, "format") != kFormat) fail_env("{} is not the index of a checkpoint", where);
  const int64_t version = read.integer_at(json, "version");
  if (version != kVersion) {
    fail_env("{} has format version {}; this build reads version {}", where, version, kVersion);
  }
  if (read.string_at(json, "checksum") != "xxh3-128") fail_env("{}: checksums are not xxh3-128", where);

  CheckpointIndex index;
  index.meta.step = read.position_at(json, "step");
  index.meta.data_position = read.position_at(json, "data_position");
  index.meta.tokens_seen = read.position_at(json, "tokens_seen");
  index.meta.skipped_steps = read.position_at(json, "skipped_steps");
  if (index.meta.skipped_steps > index.meta.step)
    fail_env("{}: skipped_steps = {} of {} steps", where, index.meta.skipped_steps, index.meta.step);
  const Read& counts = read.at(json, "counts");
  if (!counts.is_object()) fail_env("{}: counts is not an object", where);
  for (const auto& [name, value] : counts.items()) {
    if (!value.is_number_integer()) fail_env("{}: counts.{} is not an integer", where, name);
    index.meta.counts[name] = value.get<int64_t>();
  }
  index.meta.config_toml = read.string_at(json, "config");
  index.checksum_block_bytes = read.integer_at(json, "checksum_block_bytes");
  if (index.checksum_block_bytes < 8 || index.checksum_block_bytes % 8 != 0)
    fail_env("{}: checksum_block_bytes = {} is not a multiple of 8", where, index.checksum_block_bytes);
  for (const Read& file : read.array(json, "files")) index.files.push_back(parse_file(file, read));
  for (const Read& tensor : read.array(json, "tensors"))
    index.tensors.push_back(parse_tensor(tensor, index, read));
  std::sort(index.tensors.begin(), index.tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < index.tensors.size(); ++i) {
    if (index.tensors[i].name == index.tensors[i - 1].name) {
      fail_env("{}: tensor {} stands twice", where, index.tensors[i].name);
    }
  }
  return index;
}

std::string committed_text(const std::string& index_json) {
  return fmt::format("xxh3-128 {}\n", to_hex(checksum_of(index_json)));
}

}  // namespace trireme
