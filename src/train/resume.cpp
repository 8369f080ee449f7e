// Choosing and holding a checkpoint against the config.
#include "train/resume.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"
#include "io/store/s3_store.h"

namespace trireme {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::optional<OpenCheckpoint> newest(std::unique_ptr<ByteStore> store, int threads, Log& log) {
  auto found =
      newest_good(*store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); });
  if (!found) return std::nullopt;
  return OpenCheckpoint{std::move(store), std::move(*found)};
}

std::optional<OpenCheckpoint> newest(const std::string& folder, int threads, Log& log) {
  if (!is_folder(folder)) return std::nullopt;
  return newest(open_directory_store(folder), threads, log);
}

// s3://bucket/prefix, or with the name of one checkpoint behind it.
OpenCheckpoint open_in_s3(const std::string& url, const S3Options& s3, int threads, Log& log) {
  S3Place place = parse_s3_url(url);
  const size_t slash = place.prefix.find_last_of('/');
  const size_t last = slash == std::string::npos ? 0 : slash + 1;
  const std::string name = place.prefix.substr(last);
  if (step_of_name(name)) {
    place.prefix.resize(last == 0 ? 0 : slash);
    std::unique_ptr<ByteStore> store = open_s3_store(place, s3);
    CheckpointReader reader(*store, name, {.threads = threads});
    return {std::move(store), std::move(reader)};
  }
  auto found = newest(open_s3_store(place, s3), threads, log);
  if (!found)
    fail_user("{} has no checkpoint that can be read: look at it with trireme ckpt ls {}", url, url);
  return std::move(*found);
}

// A run may be called step-00000001 as well.
bool is_checkpoint(const std::filesystem::path& folder) {
  std::error_code error;
  return step_of_name(folder.filename().string()) &&
         !std::filesystem::is_directory(folder / "checkpoints", error);
}

std::vector<CheckpointName> committed(const std::string& folder) {
  if (!is_folder(folder)) return {};
  std::vector<CheckpointName> found = list_checkpoints(*open_directory_store(folder));
  std::erase_if(found, [](const CheckpointName& checkpoint) { return !checkpoint.committed; });
  return found;
}

}  // namespace

OpenCheckpoint open_checkpoint(const std::string& path, const S3Options& s3, int threads, Log& log) {
  if (is_s3_url(path)) return open_in_s3(path, s3, threads, log);
  std::filesystem::path given = std::filesystem::path(path).lexically_normal();
  if (given.filename().empty()) given = given.parent_path();
  if (!is_folder(given))
    fail_user(
        "{} is no folder of a run or a checkpoint: name one like runs/demo or "
        "runs/demo/checkpoints/step-00000100",
        path);
  if (is_checkpoint(given)) {
    const std::string folder = given.has_parent_path() ? given.parent_path().string() : ".";
    std::unique_ptr<ByteStore> store = open_directory_store(folder);
    CheckpointReader reader(*store, given.filename().string(), {.threads = threads});
    return {std::move(store), std::move(reader)};
  }
  const std::string folder = (given / "checkpoints").string();
  auto found = newest(is_folder(folder) ? folder : given.string(), threads, log);
  if (!found) fail_user("{} has no checkpoint that can be read: train it first", path);
  return std::move(*found);
}

std::optional<OpenCheckpoint> own_checkpoint(const RunFolder& folder, const ResumeChoice& choice, int threads,
                                             Log& log) {
  CHECK(choice.kind != ResumeChoice::Kind::from, "{} is not the run's own", choice.path);
  if (choice.kind == ResumeChoice::Kind::automatic) {
    auto found = newest(folder.checkpoints(), threads, log);
    const size_t whole = committed(folder.checkpoints()).size();
    if (!found && whole > 0)
      fail_env(
          "none of the {} checkpoints of {} can be read: bring back a good one, or choose another run.name "
          "to start anew",
          whole, folder.path);
    return found;
  }
  if (is_folder(folder.checkpoints()) &&
      !list_checkpoints(*open_directory_store(folder.checkpoints())).empty())
    fail_user("--resume never, but {} has checkpoints: choose another run.name or remove them", folder.path);
  return std::nullopt;
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
