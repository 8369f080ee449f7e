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

std::vector<Block> blocks_of(const CheckpointIndex& index, const IndexTensor& tensor,
                             const IndexPiece& piece);

// Reads the block through `memory`, which either holds all of it or is used over and over, and returns what
// is wrong with it: "" when nothing is. EnvError when it cannot be read.
std::string read_block(const ByteSource& source, const Block& block, std::span<std::byte> memory);

// "runs/a/checkpoints/step-00000002/rank-00000.safetensors is damaged: tensor w, bytes 96 to 128: ..."
std::string describe_fault(const ByteStore& store, const std::string& checkpoint,
                           const CheckpointIndex& index, const Block& block, const std::string& fault);

// Read and hashed in steps that stay in a core's cache.
inline constexpr size_t kReadStepBytes = size_t{256} << 10;

// A thread's memory for what does not go straight to its place.
class BlockMemory {
 public:
  std::span<std::byte> of(size_t bytes) {
    if (bytes_.size() < bytes) bytes_.resize(bytes);
    return std::span(bytes_).first(bytes);
  }

 private:
  std::vector<std::byte> bytes_;
};

// Calls `work` once for each number below `count`, from several threads. The first exception is thrown on
// when all threads are done.
void for_each(size_t count, int threads, const std::function<void(size_t, BlockMemory&)>& work);

}  // namespace trireme
