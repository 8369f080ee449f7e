// Reading blocks against their checksums.
#include "io/checkpoint/blocks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace trireme {

std::vector<Block> blocks_of(const CheckpointIndex& index, const IndexTensor& tensor,
                             const IndexPiece& piece) {
  std::vector<Block> blocks;
  for (int64_t i = 0; i < block_count(piece, index.checksum_block_bytes); ++i) {
    const int64_t begin = piece.begin + i * index.checksum_block_bytes;
    const int64_t end = begin + std::min(index.checksum_block_bytes, piece.end - begin);
    blocks.push_back({&tensor, piece.file, begin, end, piece.checksums[static_cast<size_t>(i)]});
  }
  return blocks;
}

std::string read_block(const ByteSource& source, const Block& block, std::span<std::byte> memory) {
  const bool holds_all = memory.size() >= static_cast<size_t>(block.end - block.begin);
  RunningChecksum running;
  for (int64_t at = block.begin; at < block.end;) {
    const size_t step = std::min({kReadStepBytes, memory.size(), static_cast<size_t>(block.end - at)});
    const auto part = memory.subspan(holds_all ? static_cast<size_t>(at - block.begin) : 0, step);
    source.read(at, part);
    running.add(part);
    at += static_cast<int64_t>(step);
  }
  const Checksum found = running.value();
  if (found == block.checksum) return "";
  return fmt::format("checksum {} where {} was written", to_hex(found), to_hex(block.checksum));
}

std::string describe_fault(const ByteStore& store, const std::string& checkpoint,
                           const CheckpointIndex& index, const Block& block, const std::string& fault) {
  const std::string& file = index.files[static_cast<size_t>(block.file)].name;
  return fmt::format("{} is damaged: tensor {}, bytes {} to {}: {}", store.locate(checkpoint + "/" + file),
                     block.tensor->name, block.begin, block.end, fault);
}

void for_each(size_t count, int threads, const std::function<void(size_t, BlockMemory&)>& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto run = [&] {
    BlockMemory memory;
    try {
      for (size_t i = next++; i < count; i = next++) work(i, memory);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  };
  std::vector<std::jthread> pool;
  for (int i = 1; i < threads && static_cast<size_t>(i) < count; ++i) pool.emplace_back(run);
  run();
  pool.clear();
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace trireme
