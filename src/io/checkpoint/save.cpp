// Saving: clean up after killed saves, write the staged folder (one rank file and index.json) while the
// checksums are computed beside, publish it, then remove what is older than `keep`.
#include <algorithm>

#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/checksum.h"
#include "io/checkpoint/index.h"
#include "io/checkpoint/names.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

constexpr const char* kRankFile = "rank-00000.safetensors";

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// The ranges that get a checksum each, piece by piece in the order of the file.
std::vector<std::span<const std::byte>> checksum_blocks(std::span<const TensorPiece> pieces,
                                                        const SafetensorsLayout& layout) {
  std::vector<std::span<const std::byte>> blocks;
  for (const size_t i : layout.order) {
    for (auto rest = pieces[i].bytes; !rest.empty();) {
      blocks.push_back(rest.first(std::min(rest.size(), static_cast<size_t>(kChecksumBlockBytes))));
      rest = rest.subspan(blocks.back().size());
    }
  }
  return blocks;
}

CheckpointIndex make_index(const CheckpointMeta& meta, std::span<const TensorPiece> pieces,
                           const SafetensorsLayout& layout, std::span<const Checksum> checksums) {
  CheckpointIndex index{.meta = meta};
  index.files.push_back({.name = kRankFile,
                         .bytes = layout.file_bytes,
                         .header_bytes = static_cast<int64_t>(layout.head.size()),
                         .header_checksum = checksum_of(layout.head)});
  for (const size_t i : layout.order) {
    const TensorPiece& piece = pieces[i];
    IndexPiece whole{.name = piece.name,
                     .offset = Shape(piece.shape.size(), 0),
                     .shape = piece.shape,
                     .last = count(piece.shape),
                     .begin = layout.begins[i],
                     .end = layout.begins[i] + static_cast<int64_t>(piece.bytes.size())};
    const auto blocks = static_cast<size_t>(block_count(whole, index.checksum_block_bytes));
    whole.checksums.assign(checksums.begin(), checksums.begin() + static_cast<std::ptrdiff_t>(blocks));
    checksums = checksums.subspan(blocks);
    index.tensors.push_back({piece.name, piece.dtype, piece.shape, {std::move(whole)}});
  }
  std::sort(index.tensors.begin(), index.tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return index;
}

// Writes everything into the staged folder; returns the text of index.json.
std::string write_staged(ByteStore& store, const std::string& staged, const CheckpointMeta& meta,
                         std::span<const TensorPiece> pieces, const SaveOptions& options,
                         int64_t& written_bytes) {
  const SafetensorsLayout layout = lay_out_safetensors(pieces, {{"format", "trireme"}});
  BackgroundChecksums checksums(checksum_blocks(pieces, layout), options.threads);
  const auto data = store.create(staged + "/" + kRankFile);
  data->write(bytes_of(layout.head));
  for (const size_t i : layout.order) data->write(pieces[i].bytes);
  std::string json = to_json(make_index(meta, pieces, layout, checksums.take()));
  data->finish();
  const auto index = store.create(staged + "/" + kIndexFile);
  index->write(bytes_of(json));
  index->finish();
  written_bytes = layout.file_bytes + static_cast<int64_t>(json.size());
  return json;
}

// After a failure: what this save left goes, as far as the failing disk allows; the rest goes at the next
// save.
void abandon(ByteStore& store, const std::string& name) {
  try {
    store.remove(store.staging(name));
    if (!store.exists(name + "/" + kCommittedFile)) store.remove(name);
  } catch (const EnvError&) {
  }
}

void prune(ByteStore& store, int64_t step, int64_t keep, SaveReport& report) {
  std::vector<CheckpointName> ours = list_checkpoints(store);
  std::erase_if(ours, [&](const CheckpointName& c) { return !c.committed || c.step > step; });
  for (size_t i = 0; i + static_cast<size_t>(keep) < ours.size(); ++i) {
    store.remove(ours[i].name);
    report.removed.push_back(ours[i].name);
  }
}
}  // namespace

std::vector<std::string> remove_leftovers(ByteStore& store) {
  std::vector<std::string> removed;
  for (const std::string& name : store.list("")) {
    if (!is_leftover(name)) continue;
    store.remove(name);
    removed.push_back(name);
  }
  for (const CheckpointName& found : list_checkpoints(store)) {
    if (found.committed) continue;
    store.remove(found.name);
    removed.push_back(found.name);
  }
  return removed;
}

SaveReport save_checkpoint(ByteStore& store, const CheckpointMeta& meta, std::span<const TensorPiece> pieces,
                           const SaveOptions& options) {
  CHECK(meta.step >= 0 && options.keep >= 0 && options.threads >= 1, "step {}, keep {}, threads {}",
        meta.step, options.keep, options.threads);
  SaveReport report;
  report.name = checkpoint_name(meta.step);
  report.location = store.locate(report.name);
  try {
    report.removed = remove_leftovers(store);
    const std::string json =
        write_staged(store, store.staging(report.name), meta, pieces, options, report.bytes);
    store.publish(report.name, {.name = kCommittedFile, .content = committed_text(json)});
    report.bytes += static_cast<int64_t>(committed_text(json).size());
  } catch (const EnvError& error) {
    abandon(store, report.name);
    fail_env(
        "checkpoint {} is not saved: {}; earlier checkpoints are untouched. Free space or make the folder "
        "writable, then resume",
        report.location, error.what());
  }
  try {
    if (options.keep > 0) prune(store, meta.step, options.keep, report);
  } catch (const EnvError& error) {
    report.removal_error = error.what();
  }
  return report;
}

}  // namespace trireme
