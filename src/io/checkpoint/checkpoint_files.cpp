// Files against their entries in the index.
#include "io/checkpoint/checkpoint_files.h"

#include <map>
#include <utility>

#include "io/checkpoint/damaged.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {
constexpr size_t kMostOpen = 64;
}  // namespace

CheckpointFiles::CheckpointFiles(const ByteStore& store, std::string checkpoint, const CheckpointIndex& index)
    : store_(store),
      checkpoint_(std::move(checkpoint)),
      index_(index),
      pieces_(index.files.size()),
      checked_(index.files.size()) {
  for (const IndexTensor& tensor : index.tensors)
    for (const IndexPiece& piece : tensor.pieces) pieces_[static_cast<size_t>(piece.file)].push_back(&piece);
}

std::shared_ptr<const ByteSource> CheckpointFiles::file(int64_t number) const {
  const auto n = static_cast<size_t>(number);
  {
    const std::lock_guard lock(mutex_);
    for (auto it = open_.begin(); it != open_.end(); ++it)
      if (it->first == n) {
        open_.splice(open_.begin(), open_, it);
        return it->second;
      }
  }
  std::shared_ptr<const ByteSource> opened = open(n);
  const std::lock_guard lock(mutex_);
  open_.emplace_front(n, opened);
  if (open_.size() > kMostOpen) open_.pop_back();
  return opened;
}

void CheckpointFiles::check(int64_t number) const { (void)open(static_cast<size_t>(number)); }

std::shared_ptr<const ByteSource> CheckpointFiles::open(size_t number) const {
  const std::string path = checkpoint_ + "/" + index_.files[number].name;
  if (!store_.exists(path)) fail_damaged("{} is damaged: it is not there", store_.locate(path));
  std::shared_ptr<const ByteSource> source = or_damaged<NotAnObject>([&] { return store_.open(path); });
  {
    const std::lock_guard lock(mutex_);
    if (checked_[number]) return source;
  }
  check_header(*source, number);
  const std::lock_guard lock(mutex_);
  checked_[number] = true;
  return source;
}

void CheckpointFiles::check_header(const ByteSource& source, size_t number) const {
  const IndexFile& file = index_.files[number];
  const std::string where = store_.locate(checkpoint_ + "/" + file.name);
  if (source.size_bytes() != file.bytes)
    fail_damaged("{} is damaged: it has {} bytes, not {}", where, source.size_bytes(), file.bytes);
  std::vector<std::byte> head(static_cast<size_t>(file.header_bytes));
  source.read(0, head);
  if (checksum_of(head) != file.header_checksum)
    fail_damaged("{} is damaged: wrong checksum of its header", where);
  const SafetensorsHeader header = or_damaged<EnvError>([&] {
    if (safetensors_header_bytes(head, file.bytes, where) != file.header_bytes) return SafetensorsHeader();
    return parse_safetensors_header(head, file.bytes, where);
  });
  if (header.bytes != file.header_bytes)
    fail_damaged("{}: {} bytes of header are not what its index says", where, file.header_bytes);
  std::map<std::string, std::pair<int64_t, int64_t>> unclaimed;
  for (const SafetensorsEntry& entry : header.entries) unclaimed[entry.name] = {entry.begin, entry.end};
  for (const IndexPiece* piece : pieces_[number]) {
    const auto entry = unclaimed.find(piece->name);
    if (entry == unclaimed.end() || entry->second != std::pair(piece->begin, piece->end))
      fail_damaged("{}: tensor {} does not lie where the index says", where, piece->name);
    unclaimed.erase(entry);
  }
  if (!unclaimed.empty()) fail_damaged("{}: tensor {} is not in the index", where, unclaimed.begin()->first);
}

}  // namespace trireme
