// Opening a checkpoint and reading tensors out of it, every byte held against its checksum.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "io/checkpoint/blocks.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/checkpoint_files.h"
#include "io/checkpoint/damaged.h"
#include "io/checkpoint/index.h"
#include "io/checkpoint/names.h"

namespace trireme {
namespace {

CheckpointIndex open_index(const ByteStore& store, const std::string& name) {
  const std::string committed = name + "/" + kCommittedFile;
  const std::string where = store.locate(name + "/" + kIndexFile);
  if (!store.exists(name)) fail_env("there is no checkpoint {}", store.locate(name));
  if (!store.exists(committed)) {
    fail_damaged("{} is not whole: it has no {} (its save was cut short)", store.locate(name),
                 kCommittedFile);
  }
  if (!store.exists(name + "/" + kIndexFile)) fail_damaged("{} is damaged: it is not there", where);
  const auto text_of = [&](const std::string& path, int64_t limit) {
    return or_damaged<NotAnObject>([&] { return read_text(store, path, limit); });
  };
  const std::string json = text_of(name + "/" + kIndexFile, kIndexLimitBytes);
  if (text_of(committed, 4096) != committed_text(json)) {
    fail_damaged("{} is damaged: its checksum is not the one in {}", where, kCommittedFile);
  }
  CheckpointIndex index = or_damaged<EnvError>([&] { return parse_index(json, where); });
  const auto named_step = step_of_name(name);
  if (named_step && *named_step != index.meta.step)
    fail_damaged("{} holds step {}: the folder was renamed", store.locate(name), index.meta.step);
  return index;
}

// Which runs of a block go where: `wanted` counts in what is asked for.
struct BlockCopies {
  Block block;
  struct Copy {
    size_t wanted = 0;
    BoxRun run;
  };
  std::vector<Copy> copies;
};

// Whether the runs fill a part of so many elements, each once.
bool fill(std::vector<BoxRun>& runs, int64_t elements) {
  std::ranges::sort(runs, {}, &BoxRun::to);
  int64_t at = 0;
  for (const BoxRun& run : runs) {
    if (run.to != at) return false;
    at += run.count;
  }
  return at == elements;
}

// The blocks of a tensor that have something that is wanted. Every wanted element must be in one of them.
std::vector<BlockCopies> copies_of(const CheckpointIndex& index, const IndexTensor& tensor,
                                   std::span<const WantedPart> wanted, const std::string& where) {
  std::vector<BlockCopies> all;
  std::vector<std::vector<BoxRun>> found(wanted.size());
  const int64_t element = size_of(tensor.dtype);
  for (const IndexPiece& piece : tensor.pieces)
    for (const Block& block : blocks_of(index, tensor, piece)) {
      BoxPart part = piece.part;
      part.first = piece.part.first + (block.begin - piece.begin) / element;
      part.last = piece.part.first + (block.end - piece.begin) / element;
      BlockCopies copies{block, {}};
      for (size_t w = 0; w < wanted.size(); ++w)
        for (const BoxRun& run : overlap_of(part, wanted[w].part)) {
          copies.copies.push_back({w, run});
          found[w].push_back(run);
        }
      if (!copies.copies.empty()) all.push_back(std::move(copies));
    }
  for (size_t w = 0; w < wanted.size(); ++w)
    if (!fill(found[w], wanted[w].part.elements()))
      fail_damaged("{} is damaged: its pieces of tensor {} do not have each element once", where,
                   tensor.name);
  return all;
}

}  // namespace

CheckpointReader::CheckpointReader(const ByteStore& store, const std::string& name,
                                   const ReadOptions& options)
    : store_(&store),
      name_(name),
      options_(options),
      index_(std::make_unique<CheckpointIndex>(open_index(store, name))),
      files_(std::make_unique<CheckpointFiles>(store, name, *index_)) {
  CHECK(options.threads >= 1, "threads = {}", options.threads);
  if (options.files == FileCheck::at_once)
    for (size_t i = 0; i < index_->files.size(); ++i) files_->check(static_cast<int64_t>(i));
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
  const WantedPart whole{whole_of(shape), into};
  read(name, dtype, shape, std::span(&whole, 1));
}

void CheckpointReader::read(const std::string& name, DType dtype, const Shape& shape,
                            std::span<const WantedPart> wanted) const {
  for (const WantedPart& want : wanted)
    CHECK(static_cast<int64_t>(want.into.size()) == want.part.elements() * size_of(dtype),
          "{}: {} bytes for {} elements of {}", name, want.into.size(), want.part.elements(), name_of(dtype));
  const IndexTensor& tensor = find(name, dtype, shape);
  const std::vector<BlockCopies> blocks =
      copies_of(*index_, tensor, wanted, store_->locate(name_ + "/" + kIndexFile));
  for_each(blocks.size(), options_.threads, [&](size_t i, BlockMemory& memory) {
    check_stop();
    const BlockCopies& from = blocks[i];
    const auto bytes = static_cast<size_t>(from.block.end - from.block.begin);
    const auto element = static_cast<size_t>(size_of(dtype));
    const auto part = [&](const BlockCopies::Copy& copy) {
      return wanted[copy.wanted].into.subspan(static_cast<size_t>(copy.run.to) * element,
                                              static_cast<size_t>(copy.run.count) * element);
    };
    const bool in_place = from.copies.size() == 1 && part(from.copies[0]).size() == bytes;
    const std::span<std::byte> read = in_place ? part(from.copies[0]) : memory.of(bytes);
    const std::string fault = read_block(*files_->file(from.block.file), from.block, read);
    if (!fault.empty()) fail_damaged("{}", describe_fault(*store_, name_, *index_, from.block, fault));
    if (in_place) return;
    for (const BlockCopies::Copy& copy : from.copies) {
      const std::span<std::byte> to = part(copy);
      std::copy_n(read.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(copy.run.from) * element),
                  to.size(), to.begin());
    }
  });
}

void CheckpointReader::check_stop() const {
  if (options_.stop.stop_requested()) fail_env("the reading of {} was stopped", location());
}

void CheckpointReader::require(const std::string& name, DType dtype, const Shape& shape) const {
  (void)find(name, dtype, shape);
}

const IndexTensor& CheckpointReader::find(const std::string& name, DType dtype, const Shape& shape) const {
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
  return *tensor;
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
  for (const IndexTensor& tensor : index_->tensors)
    for (const IndexPiece& piece : tensor.pieces) {
      const std::vector<Block> more = blocks_of(*index_, tensor, piece);
      blocks.insert(blocks.end(), more.begin(), more.end());
    }
  std::mutex mutex;
  std::map<std::pair<int64_t, int64_t>, std::string> found;  // in file order, whatever the threads do
  for_each(blocks.size(), options_.threads, [&](size_t i, BlockMemory& memory) {
    check_stop();
    const Block& block = blocks[i];
    const std::string fault = read_block(*files_->file(block.file), block, memory.of(kReadStepBytes));
    if (fault.empty()) return;
    const std::lock_guard lock(mutex);
    found[{block.file, block.begin}] = describe_fault(*store_, name_, *index_, block, fault);
  });
  std::vector<std::string> lines;
  for (const IndexTensor& tensor : index_->tensors) {
    const WantedPart whole{whole_of(tensor.shape), {}};
    try {
      (void)copies_of(*index_, tensor, std::span(&whole, 1), store_->locate(name_ + "/" + kIndexFile));
    } catch (const CheckpointDamaged& error) {
      lines.push_back(error.what());
    }
  }
  for (auto& [place, line] : found) lines.push_back(std::move(line));
  return lines;
}

}  // namespace trireme
