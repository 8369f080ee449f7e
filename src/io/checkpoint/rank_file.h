// The file of one rank in a checkpoint: its parts of the tensors, and what index.json will say of them. All
// ranks write theirs at once; whoever commits the checkpoint joins what they say.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "io/checkpoint/index.h"
#include "io/checkpoint/tensor_part.h"
#include "io/store/byte_store.h"

namespace trireme {

std::string rank_file_name(int rank);  // 12 -> "rank-00012.safetensors"

// Where a rank's file goes, and what all ranks of the checkpoint agree on.
struct RankFilePlace {
  std::string folder;
  int rank = 0;
  int64_t block_bytes = kChecksumBlockBytes;  // checksum_block_bytes() of all ranks' state
};

// Writes `folder`/rank-NNNNN.safetensors, durable when it returns; each block is hashed just before it is
// written, while it is in the caches. Returns an index of this file alone, without any meta.
CheckpointIndex write_rank_file(ByteStore& store, const RankFilePlace& place,
                                std::span<const TensorPart> parts);

// One index of all the files. Every element of every tensor must be in them, once: the layout that made them
// has a bug otherwise.
CheckpointIndex joined(const CheckpointMeta& meta, std::span<const CheckpointIndex> files);

}  // namespace trireme
