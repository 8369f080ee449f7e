// The safetensors format (https://github.com/huggingface/safetensors, tensor.rs): u64 header length, a JSON
// header, then the tensors' bytes without gaps. Reading trusts nothing: every refusal is an EnvError that
// names the file and the tensor. Knows nothing of checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "io/checkpoint/tensor_piece.h"
#include "io/files/mapped_file.h"

namespace trireme {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the file says: "F32", "BF16", "F8_E4M3", ...
  Shape shape;
  int64_t begin = 0;  // byte range in the file
  int64_t end = 0;
};

struct SafetensorsHeader {
  int64_t bytes = 0;                      // up to the first tensor's first byte
  std::vector<SafetensorsEntry> entries;  // in file order; together they cover the rest of the file exactly
  std::map<std::string, std::string> metadata;
};

// The header's size in bytes, its length field included, from the first 8 bytes of a file of `file_bytes`.
int64_t safetensors_header_bytes(std::span<const std::byte> first8, int64_t file_bytes,
                                 const std::string& file);
// Parses the first safetensors_header_bytes() bytes of the file; `file` is its name for messages.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> head, int64_t file_bytes,
                                           const std::string& file);
// The dtype of an entry; refuses one that the file may hold and this engine does not compute with.
DType dtype_of(const SafetensorsEntry& entry, const std::string& file);

// A file, memory-mapped.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const SafetensorsEntry& entry(const std::string& name) const;  // refuses an unknown name with the nearest
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const;

 private:
  std::string path_;
  MappedFile mapped_;
  SafetensorsHeader header_;
};

// How to write a file: `head`, then the pieces' bytes in `order` (larger dtype first, then by name, so that
// every tensor is aligned to its element).
struct SafetensorsLayout {
  std::string head;             // length field and JSON, padded to a multiple of 8
  std::vector<size_t> order;    // indices of the pieces
  std::vector<int64_t> begins;  // per piece: where its bytes start in the file
  int64_t file_bytes = 0;
};

SafetensorsLayout lay_out_safetensors(std::span<const TensorPiece> pieces,
                                      const std::map<std::string, std::string>& metadata);

}  // namespace trireme
