// The unit of verification: a range of a file with one checksum. Blocks are read and hashed on many threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/checkpoint/index.h"
#include "io/store/byte_store.h"

namespace trireme {

struct Block {
  const IndexTensor* tensor = nullptr;
  int64_t file = 0;
  int64_t begin = 0;  // byte range in the file
  int64_t end = 0;
  Checksum checksum;
};

std::vector<Block> blocks_of(const CheckpointIndex& index, const IndexTensor& tensor);

// Reads the block through `memory`, which either holds all of it or is used over and over, and returns what
// is wrong with it: "" when nothing is.
std::string read_block(const ByteSource& source, const Block& block, std::span<std::byte> memory);

// "runs/a/checkpoints/step-00000002/rank-00000.safetensors is damaged: tensor w, bytes 96 to 128: ..."
std::string describe_fault(const ByteStore& store, const std::string& checkpoint,
                           const CheckpointIndex& index, const Block& block, const std::string& fault);

// Calls `work` once for each block, from several threads; each has scratch memory of its own. The first
// exception is thrown on when all threads are done.
using BlockWork = std::function<void(const Block&, std::span<std::byte> scratch)>;
void for_each_block(std::span<const Block> blocks, int threads, const BlockWork& work);

}  // namespace trireme
