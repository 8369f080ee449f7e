// index.json of a checkpoint as data, and its text form (docs/checkpoints.md). A tensor lies in as many
// pieces and files as ranks have written of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "io/checkpoint/box_runs.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/checksum.h"

namespace trireme {

inline constexpr const char* kIndexFile = "index.json";
inline constexpr const char* kCommittedFile = "COMMITTED";
inline constexpr int64_t kIndexLimitBytes = int64_t{1} << 30;
// What is read of a checkpoint is read in whole blocks, so that each can be verified: of a MiB, and of more
// where that would make more than a million of them.
inline constexpr int64_t kChecksumBlockBytes = int64_t{1} << 20;
int64_t checksum_block_bytes(int64_t state_bytes);

struct IndexFile {
  std::string name;  // "rank-00000.safetensors"
  int64_t bytes = 0;
  int64_t header_bytes = 0;
  Checksum header_checksum;
};

struct IndexPiece {
  int64_t file = 0;  // index into files
  std::string name;  // the entry in that file
  BoxPart part;
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
