// Writes a Megatron shard, PREFIX.bin and PREFIX.idx, one sequence per document.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace trireme {

// Memory does not grow with the shard. Everything goes to PREFIX.bin.partial and PREFIX.idx.partial; finish()
// syncs them and gives them their names, the .idx last: a reader needs both, and refuses a pair that does not
// fit. Without finish() the partial files are removed and an earlier shard of that name stays as it was.
class ShardWriter {
 public:
  // Ids are u16 when vocab <= 65,536, else i32. Makes missing folders. EnvError.
  ShardWriter(const std::string& prefix, int64_t vocab);
  ShardWriter(ShardWriter&&) noexcept;
  ~ShardWriter();

  void add_document(std::span<const uint32_t> ids);  // every id < vocab. EnvError: the disk
  void finish();                                     // EnvError; nothing may be added after it

  int64_t documents() const;
  int64_t tokens() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
