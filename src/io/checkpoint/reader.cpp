// Opening a checkpoint and reading tensors out of it, every byte held against its checksum.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "io/checkpoint/blocks.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/index.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

CheckpointIndex open_index(const ByteStore& store, const std::string& name) {
  const std::string committed = name + "/" + kCommittedFile;
  const std::string where = store.locate(name + "/" + kIndexFile);
  if (!store.exists(name)) fail_env("there is no checkpoint {}", store.locate(name));
  if (!store.exists(committed)) {
    fail_env("{} is not whole: it has no {} (its save was cut short)", store.locate(name), kCommittedFile);
  }
  const std::string json = read_text(store, name + "/" + kIndexFile, kIndexLimitBytes);
  if (read_text(store, committed, 4096) != committed_text(json)) {
    fail_env("{} is damaged: its checksum is not the one in {}", where, kCommittedFile);
  }
  return parse_index(json, where);
}

// The file's size and header against the index; then index and header must name the same byte ranges, so
// that the checksums of the pieces cover every byte behind the header.
void check_file(const ByteSource& source, const CheckpointIndex& index, size_t number,
                const std::string& where) {
  const IndexFile& file = index.files[number];
  if (source.size_bytes() != file.bytes) {
    fail_env("{} is damaged: it has {} bytes, not {}", where, source.size_bytes(), file.bytes);
  }
  std::vector<std::byte> head(static_cast<size_t>(file.header_bytes));
  source.read(0, head);
  if (checksum_of(head) != file.header_checksum)
    fail_env("{} is damaged: wrong checksum of its header", where);
  if (safetensors_header_bytes(head, file.bytes, where) != file.header_bytes) {
    fail_env("{}: {} bytes of header are not what its index says", where, file.header_bytes);
  }
  std::map<std::string, std::pair<int64_t, int64_t>> unclaimed;
  for (const SafetensorsEntry& entry : parse_safetensors_header(head, file.bytes, where).entries) {
    unclaimed[entry.name] = {entry.begin, entry.end};
  }
  for (const IndexTensor& tensor : index.tensors) {
    for (const IndexPiece& piece : tensor.pieces) {
      if (piece.file != static_cast<int64_t>(number)) continue;
      const auto entry = unclaimed.find(piece.name);
      if (entry == unclaimed.end() || entry->second != std::pair(piece.begin, piece.end)) {
        fail_env("{}: tensor {} does not lie where the index says", where, piece.name);
      }
      unclaimed.erase(entry);
    }
  }
  if (!unclaimed.empty()) fail_env("{}: tensor {} is not in the index", where, unclaimed.begin()->first);
}
}  // namespace

CheckpointReader::CheckpointReader(const ByteStore& store, const std::string& name,
                                   const ReadOptions& options)
    : store_(&store),
      name_(name),
      options_(options),
      index_(std::make_unique<CheckpointIndex>(open_index(store, name))) {
  CHECK(options.threads >= 1, "threads = {}", options.threads);
  for (size_t i = 0; i < index_->files.size(); ++i) {
    const std::string path = name + "/" + index_->files[i].name;
    files_.push_back(store.open(path));
    check_file(*files_.back(), *index_, i, store.locate(path));
  }
}

CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;
CheckpointReader::~CheckpointReader() = default;

const CheckpointMeta& CheckpointReader::meta() const { return index_->meta; }

std::string CheckpointReader::location() const { return store_->locate(name_); }

std::vector<StoredTensor> CheckpointReader::tensors() const {
  std::vector<StoredTensor> list;
  for (const IndexTensor& tensor : index_->tensors) list.push_back({tensor.name, tensor.dtype, tensor.shape});
  return list;
}

int64_t CheckpointReader::bytes() const {
  int64_t total = 0;
  for (const IndexFile& file : index_->files) total += file.bytes;
  return total;
}

void CheckpointReader::read(const std::string& name, DType dtype, const Shape& shape,
                            std::span<std::byte> into) const {
  CHECK(static_cast<int64_t>(into.size()) == count(shape) * size_of(dtype), "{}: {} bytes for {} [{}]", name,
        into.size(), name_of(dtype), to_string(shape));
  const auto tensor = std::lower_bound(index_->tensors.begin(), index_->tensors.end(), name,
                                       [](const IndexTensor& t, const std::string& n) { return t.name < n; });
  if (tensor == index_->tensors.end() || tensor->name != name) {
    fail_user("checkpoint {} has no tensor {}, which the model of this config has ({} [{}])", location(),
              name, name_of(dtype), to_string(shape));
  }
  if (tensor->shape != shape || tensor->dtype != dtype) {
    fail_user(
        "tensor {} is {} [{}] in checkpoint {}, but {} [{}] by this config: resume with the run's own "
        "model settings, or start anew with --resume never",
        name, name_of(tensor->dtype), to_string(tensor->shape), location(), name_of(dtype), to_string(shape));
  }
  if (tensor->pieces.size() != 1 || tensor->pieces[0].last - tensor->pieces[0].first != count(shape)) {
    fail_env("tensor {} of checkpoint {} lies in {} pieces; this build reads whole tensors", name, location(),
             tensor->pieces.size());
  }
  const std::vector<Block> blocks = blocks_of(*index_, *tensor);
  for_each_block(blocks, options_.threads, [&](const Block& block, std::span<std::byte>) {
    const auto part = into.subspan(static_cast<size_t>(block.begin - tensor->pieces[0].begin),
                                   static_cast<size_t>(block.end - block.begin));
    const std::string fault = read_block(*files_[static_cast<size_t>(block.file)], block, part);
    if (!fault.empty()) fail_env("{}", describe_fault(*store_, name_, *index_, block, fault));
  });
}

void CheckpointReader::require_exactly(std::span<const std::string> names) const {
  const std::set<std::string> wanted(names.begin(), names.end());
  std::set<std::string> stored;
  for (const IndexTensor& tensor : index_->tensors) stored.insert(tensor.name);
  const auto first_beyond = [](const std::set<std::string>& a, const std::set<std::string>& b) {
    const auto it =
        std::find_if(a.begin(), a.end(), [&](const std::string& name) { return !b.contains(name); });
    return it == a.end() ? std::string() : *it;
  };
  const std::string missing = first_beyond(wanted, stored);
  const std::string extra = first_beyond(stored, wanted);
  if (missing.empty() && extra.empty()) return;
  fail_user(
      "checkpoint {} holds another model, or another optimizer's state: {}{}{}; resume with the run's own "
      "model settings and optimizer.kind, or start anew with --resume never",
      location(), missing.empty() ? "" : "it lacks tensor " + missing,
      missing.empty() || extra.empty() ? "" : " and ",
      extra.empty() ? "" : "it has the further tensor " + extra);
}

std::vector<std::string> CheckpointReader::faults() const {
  std::vector<Block> blocks;
  for (const IndexTensor& tensor : index_->tensors) {
    const std::vector<Block> more = blocks_of(*index_, tensor);
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  std::mutex mutex;
  std::map<std::pair<int64_t, int64_t>, std::string> found;  // in file order, whatever the threads do
  for_each_block(blocks, options_.threads, [&](const Block& block, std::span<std::byte> scratch) {
    const std::string fault = read_block(*files_[static_cast<size_t>(block.file)], block, scratch);
    if (fault.empty()) return;
    const std::lock_guard lock(mutex);
    found[{block.file, block.begin}] = describe_fault(*store_, name_, *index_, block, fault);
  });
  std::vector<std::string> lines;
  for (auto& [place, line] : found) lines.push_back(std::move(line));
  return lines;
}

}  // namespace trireme
