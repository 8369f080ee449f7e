// The rank files of an open checkpoint: opened, and held against the index, when they are used, since a rank
// of a large run needs few of them; some are kept open. May be used from several threads.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/checkpoint/index.h"
#include "io/store/byte_store.h"

namespace trireme {

class CheckpointFiles {
 public:
  // Both must outlive it.
  CheckpointFiles(const ByteStore& store, std::string checkpoint, const CheckpointIndex& index);

  // Checks its size and its header, once: index and header must name the same byte ranges, so that the
  // checksums of the pieces cover every byte behind the header. CheckpointDamaged when they do not. Whoever
  // reads it is the second owner: it may be closed meanwhile for others.
  std::shared_ptr<const ByteSource> file(int64_t number) const;
  // The same, and it is not kept open.
  void check(int64_t number) const;

 private:
  std::shared_ptr<const ByteSource> open(size_t number) const;
  void check_header(const ByteSource& source, size_t number) const;

  const ByteStore& store_;
  std::string checkpoint_;
  const CheckpointIndex& index_;
  std::vector<std::vector<const IndexPiece*>> pieces_;  // by file
  mutable std::mutex mutex_;                            // of what follows
  mutable std::vector<bool> checked_;
  mutable std::list<std::pair<size_t, std::shared_ptr<const ByteSource>>> open_;  // the last used first
};

}  // namespace trireme
