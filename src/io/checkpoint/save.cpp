// Saving: clean up after killed saves, write the staged folder (the ranks' files and index.json), publish it,
// then remove what is older than is to be kept.
#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/names.h"
#include "io/checkpoint/rank_file.h"
#include "io/checkpoint/retention.h"
#include "io/checkpoint/staged_save.h"

namespace trireme {
namespace {

std::vector<TensorPart> whole_tensors(std::span<const TensorPiece> pieces) {
  std::vector<TensorPart> parts;
  for (const TensorPiece& piece : pieces)
    parts.push_back({piece.name, piece.dtype, piece.shape, whole_of(piece.shape), piece.bytes});
  return parts;
}

// A rank on another host may have written to a folder of its own.
void check_visible(const ByteStore& store, const std::string& staged, const IndexFile& file) {
  const std::string path = staged + "/" + file.name;
  if (store.exists(path) && store.open(path)->size_bytes() == file.bytes) return;
  fail_env(
      "{}, which its rank has written, is not to be seen from rank 0: all hosts need run.dir on one shared "
      "file system",
      store.locate(path));
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

SaveReport commit_save(ByteStore& store, const CheckpointMeta& meta, std::span<const CheckpointIndex> files,
                       const SaveOptions& options) {
  CHECK(meta.step >= 0, "step {}", meta.step);
  SaveReport report;
  report.name = checkpoint_name(meta.step);
  report.location = store.locate(report.name);
  const std::string staged = store.staging(report.name);
  const CheckpointIndex index = joined(meta, files);
  for (const IndexFile& file : index.files) {
    check_visible(store, staged, file);
    report.bytes += file.bytes;
  }
  const std::string json = to_json(index);
  if (static_cast<int64_t>(json.size()) > kIndexLimitBytes)
    fail_env("its {} would have {} bytes, and {} are the most that is read", kIndexFile, json.size(),
             kIndexLimitBytes);
  const auto sink = store.create(staged + "/" + kIndexFile);
  sink->write(std::as_bytes(std::span(json)));
  sink->finish();
  const std::string committed = committed_text(json);
  store.publish(report.name, {.name = kCommittedFile, .content = committed});
  report.bytes += static_cast<int64_t>(json.size() + committed.size());
  try {
    for (const std::string& name :
         superseded(list_checkpoints(store), meta.step, options.keep,
                    options.pinned ? options.pinned() : std::vector<std::string>())) {
      store.remove(name);
      report.removed.push_back(name);
    }
  } catch (const EnvError& error) {
    report.removal_error = error.what();
  }
  return report;
}

void abandon_save(ByteStore& store, int64_t step) {
  const std::string name = checkpoint_name(step);
  try {
    store.remove(store.staging(name));
    if (!store.exists(name + "/" + kCommittedFile)) store.remove(name);
  } catch (const EnvError&) {
  }
}

std::string not_saved(const ByteStore& store, int64_t step, const std::string& why) {
  return fmt::format(
      "checkpoint {} is not saved: {}; earlier checkpoints are untouched. Free space or make the folder "
      "writable, then resume",
      store.locate(checkpoint_name(step)), why);
}

SaveReport save_checkpoint(ByteStore& store, const CheckpointMeta& meta, std::span<const TensorPiece> pieces,
                           const SaveOptions& options) {
  try {
    std::vector<std::string> removed = remove_leftovers(store);
    int64_t bytes = 0;
    for (const TensorPiece& piece : pieces) bytes += static_cast<int64_t>(piece.bytes.size());
    const RankFilePlace place{.folder = store.staging(checkpoint_name(meta.step)),
                              .block_bytes = checksum_block_bytes(bytes)};
    const CheckpointIndex file = write_rank_file(store, place, whole_tensors(pieces));
    SaveReport report = commit_save(store, meta, std::span(&file, 1), options);
    report.removed.insert(report.removed.begin(), removed.begin(), removed.end());
    return report;
  } catch (const EnvError& error) {
    abandon_save(store, meta.step);
    fail_env("{}", not_saved(store, meta.step, error.what()));
  }
}

}  // namespace trireme
