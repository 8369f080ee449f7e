// The rank files of an open checkpoint: opened, and held against the index, when they are first used, since a
// rank of a large run needs few of them. May be used from several threads.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/checkpoint/index.h"
#include "io/store/byte_store.h"

namespace trireme {

class CheckpointFiles {
 public:
  // Both must outlive it.
  CheckpointFiles(const ByteStore& store, std::string checkpoint, const CheckpointIndex& index);

  // Checks its size and its header: index and header must name the same byte ranges, so that the checksums of
  // the pieces cover every byte behind the header. EnvError when it is damaged.
  const ByteSource& file(int64_t number) const;

 private:
  void check(const ByteSource& source, size_t number) const;

  const ByteStore& store_;
  std::string checkpoint_;
  const CheckpointIndex& index_;
  std::vector<std::vector<const IndexPiece*>> pieces_;  // by file
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ByteSource>> files_;
};

}  // namespace trireme
