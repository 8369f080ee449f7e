// index.json of a checkpoint as data, and its text form (docs/checkpoints.md). A tensor may lie in several
// pieces and files, as many ranks will write it; the reader of today takes tensors of one piece.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/checksum.h"

namespace trireme {

inline constexpr const char* kIndexFile = "index.json";
inline constexpr const char* kCommittedFile = "COMMITTED";
inline constexpr int64_t kIndexLimitBytes = int64_t{1} << 28;
inline constexpr int64_t kChecksumBlockBytes = int64_t{16} << 20;

struct IndexFile {
  std::string name;  // "rank-00000.safetensors"
  int64_t bytes = 0;
  int64_t header_bytes = 0;
  Checksum header_checksum;
};

// The elements [first, last) of a box of the global tensor, both row-major; the whole tensor is the box at
// offset 0 with the tensor's shape, all its elements.
struct IndexPiece {
  int64_t file = 0;  // index into files
  std::string name;  // the entry in that file
  Shape offset;      // of the box in the global tensor, per dim
  Shape shape;       // of the box
  int64_t first = 0;
  int64_t last = 0;
  int64_t begin = 0;  // byte range in the file
  int64_t end = 0;
  std::vector<Checksum> checksums;  // of each checksum_block_bytes of the range, the last one shorter
};

struct IndexTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // global
  std::vector<IndexPiece> pieces;
};

struct CheckpointIndex {
  CheckpointMeta meta;
  int64_t checksum_block_bytes = kChecksumBlockBytes;
  std::vector<IndexFile> files;
  std::vector<IndexTensor> tensors;  // by name
};

std::string to_json(const CheckpointIndex& index);
// Checks types, ranges and the sense of every number; `where` names the file in messages (EnvError).
CheckpointIndex parse_index(const std::string& json, const std::string& where);

// The content of COMMITTED for this text of index.json.
std::string committed_text(const std::string& index_json);

int64_t block_count(const IndexPiece& piece, int64_t block_bytes);

}  // namespace trireme
