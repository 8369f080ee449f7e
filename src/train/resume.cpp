// Choosing and holding a checkpoint against the config.
#include "train/resume.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::vector<CheckpointName> committed(const std::string& folder) {
  if (!is_folder(folder)) return {};
  std::vector<CheckpointName> found = list_checkpoints(*open_directory_store(folder));
  std::erase_if(found, [](const CheckpointName& checkpoint) { return !checkpoint.committed; });
  return found;
}

std::optional<OpenCheckpoint> newest(const std::string& folder, int threads, Log& log, const Search& search) {
  if (!is_folder(folder)) return std::nullopt;
  std::unique_ptr<ByteStore> store = open_directory_store(folder);
  auto found = newest_good(
      *store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); }, search);
  if (!found) return std::nullopt;
  return OpenCheckpoint{std::move(store), std::move(*found)};
}

std::filesystem::path without_last_slash(const std::string& path) {
  const std::filesystem::path given = std::filesystem::path(path).lexically_normal();
  return given.filename().empty() ? given.parent_path() : given;
}

[[noreturn]] void fail_all_damaged(const std::string& folder) {
  fail_env(
      "none of the {} checkpoints of {} can be read: bring back a good one, or choose another run.name "
      "to start anew",
      committed(folder).size(), folder);
}

// A run may be called step-00000001 as well.
bool is_checkpoint(const std::filesystem::path& folder) {
  std::error_code error;
  return step_of_name(folder.filename().string()) &&
         !std::filesystem::is_directory(folder / "checkpoints", error);
}

}  // namespace

bool names_one_checkpoint(const std::string& path) { return is_checkpoint(without_last_slash(path)); }

OpenCheckpoint open_checkpoint(const std::string& path, int threads, Log& log, Trust trust) {
  const std::filesystem::path given = without_last_slash(path);
  if (!is_folder(given))
    fail_user(
        "{} is no folder of a run or a checkpoint: name one like runs/demo or "
        "runs/demo/checkpoints/step-00000100",
        path);
  if (is_checkpoint(given)) {
    const std::string folder = given.has_parent_path() ? given.parent_path().string() : ".";
    std::unique_ptr<ByteStore> store = open_directory_store(folder);
    const FileCheck files = trust == Trust::headers ? FileCheck::when_used : FileCheck::at_once;
    CheckpointReader reader(*store, given.filename().string(), {.threads = threads, .files = files});
    return {std::move(store), std::move(reader)};
  }
  const std::string folder = (given / "checkpoints").string();
  auto found = newest(is_folder(folder) ? folder : given.string(), threads, log, {.trust = trust});
  if (!found) fail_user("{} has no checkpoint that can be read: train it first", path);
  return std::move(*found);
}

std::optional<OpenCheckpoint> own_checkpoint(const RunFolder& folder, const ResumeChoice& choice, int threads,
                                             Log& log, Trust trust) {
  CHECK(choice.kind != ResumeChoice::Kind::from, "{} is not the run's own", choice.path);
  if (choice.kind == ResumeChoice::Kind::automatic) {
    auto found = newest(folder.checkpoints(), threads, log, {.trust = trust});
    if (!found && !committed(folder.checkpoints()).empty()) fail_all_damaged(folder.checkpoints());
    return found;
  }
  if (is_folder(folder.checkpoints()) &&
      !list_checkpoints(*open_directory_store(folder.checkpoints())).empty())
    fail_user("--resume never, but {} has checkpoints: choose another run.name or remove them", folder.path);
  return std::nullopt;
}

OpenCheckpoint older_checkpoint(const OpenCheckpoint& damaged, int threads, Log& log) {
  const std::string folder = std::filesystem::path(damaged.reader.location()).parent_path().string();
  auto found =
      newest(folder, threads, log, {.trust = Trust::headers, .before_step = damaged.reader.meta().step});
  if (!found) fail_all_damaged(folder);
  return std::move(*found);
}

void check_nothing_superseded(const RunFolder& folder, const OpenCheckpoint& start) {
  const std::vector<CheckpointName> own = committed(folder.checkpoints());
  if (own.empty()) return;
  std::error_code error;
  const std::filesystem::path from = std::filesystem::path(start.reader.location()).parent_path();
  if (!std::filesystem::equivalent(from, folder.checkpoints(), error))
    fail_user(
        "--resume {}, but {} has checkpoints of its own: go on from them with --resume auto, remove them, or "
        "choose another run.name",
        start.reader.location(), folder.path);
  if (own.back().step > start.reader.meta().step)
    fail_user(
        "--resume {}, but {} has later checkpoints, up to step {}, which the next start would take: remove "
        "them, or choose another run.name",
        start.reader.location(), folder.path, own.back().step);
}

void check_same_run(const RunSpec& spec, const CheckpointMeta& meta, Log& log) {
  const RunSpec before = parse_config(meta.config_toml, "the checkpoint's config");
  for (const Difference& difference : diff(before, spec)) {
    if (difference.key.starts_with("model.") && difference.effect == Effect::math)
      fail_user(
          "{} = {}, but the checkpoint was trained with {}: a run keeps its model; choose another run.name "
          "to start anew",
          difference.key, difference.after.empty() ? "(unset)" : difference.after,
          difference.before.empty() ? "(unset)" : difference.before);
    if (difference.effect == Effect::math)
      log.warn("{} was {} and is now {}", difference.key, difference.before, difference.after);
  }
}

}  // namespace trireme
