// Files against their entries in the index.
#include "io/checkpoint/checkpoint_files.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {

CheckpointFiles::CheckpointFiles(const ByteStore& store, std::string checkpoint, const CheckpointIndex& index)
    : store_(store),
      checkpoint_(std::move(checkpoint)),
      index_(index),
      pieces_(index.files.size()),
      files_(index.files.size()) {
  for (const IndexTensor& tensor : index.tensors)
    for (const IndexPiece& piece : tensor.pieces) pieces_[static_cast<size_t>(piece.file)].push_back(&piece);
}

const ByteSource& CheckpointFiles::file(int64_t number) const {
  const auto n = static_cast<size_t>(number);
  const std::lock_guard lock(mutex_);
  if (files_[n]) return *files_[n];
  std::unique_ptr<ByteSource> opened = store_.open(checkpoint_ + "/" + index_.files[n].name);
  check(*opened, n);
  files_[n] = std::move(opened);
  return *files_[n];
}

void CheckpointFiles::check(const ByteSource& source, size_t number) const {
  const IndexFile& file = index_.files[number];
  const std::string where = store_.locate(checkpoint_ + "/" + file.name);
  if (source.size_bytes() != file.bytes)
    fail_env("{} is damaged: it has {} bytes, not {}", where, source.size_bytes(), file.bytes);
  std::vector<std::byte> head(static_cast<size_t>(file.header_bytes));
  source.read(0, head);
  if (checksum_of(head) != file.header_checksum)
    fail_env("{} is damaged: wrong checksum of its header", where);
  if (safetensors_header_bytes(head, file.bytes, where) != file.header_bytes)
    fail_env("{}: {} bytes of header are not what its index says", where, file.header_bytes);
  std::map<std::string, std::pair<int64_t, int64_t>> unclaimed;
  for (const SafetensorsEntry& entry : parse_safetensors_header(head, file.bytes, where).entries)
    unclaimed[entry.name] = {entry.begin, entry.end};
  for (const IndexPiece* piece : pieces_[number]) {
    const auto entry = unclaimed.find(piece->name);
    if (entry == unclaimed.end() || entry->second != std::pair(piece->begin, piece->end))
      fail_env("{}: tensor {} does not lie where the index says", where, piece->name);
    unclaimed.erase(entry);
  }
  if (!unclaimed.empty()) fail_env("{}: tensor {} is not in the index", where, unclaimed.begin()->first);
}

}  // namespace trireme
