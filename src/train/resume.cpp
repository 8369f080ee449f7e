// Choosing and holding a checkpoint against the config.
#include "train/resume.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "io/checkpoint/place.h"
#include "io/store/directory_store.h"
#include "io/store/open_store.h"
#include "io/store/s3_address.h"

namespace trireme {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::vector<CheckpointName> committed(const std::string& folder) {
  return is_folder(folder) ? committed_checkpoints(*open_directory_store(folder))
                           : std::vector<CheckpointName>();
}

std::optional<OpenCheckpoint> newest(std::unique_ptr<ByteStore> store, int threads, Log& log,
                                     const Search& search) {
  auto found = newest_good(
      *store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); }, search);
  if (!found) return std::nullopt;
  return OpenCheckpoint{std::move(store), std::move(*found)};
}

std::optional<OpenCheckpoint> newest(const std::string& folder, int threads, Log& log, const Search& search) {
  if (!is_folder(folder)) return std::nullopt;
  return newest(open_directory_store(folder), threads, log, search);
}

OpenCheckpoint open_one(std::unique_ptr<ByteStore> store, const std::string& name, int threads, Trust trust) {
  const FileCheck files = trust == Trust::index ? FileCheck::when_used : FileCheck::at_once;
  CheckpointReader reader(*store, name, {.threads = threads, .files = files});
  return {std::move(store), std::move(reader)};
}

[[noreturn]] void fail_all_damaged(const ByteStore& store) {
  fail_env(
      "none of the {} checkpoints of {} can be read: bring back a good one, or choose another run.name "
      "to start anew",
      committed_checkpoints(store).size(), store.locate(""));
}

}  // namespace

bool names_one_checkpoint(const std::string& path) { return named_checkpoint(path).has_value(); }

OpenCheckpoint open_checkpoint(const std::string& path, const S3Options& s3, int threads, Log& log,
                               Trust trust) {
  if (const auto one = named_checkpoint(path))
    return open_one(open_store(one->in, s3), one->name, threads, trust);
  if (is_s3_url(path)) {
    auto found = newest(open_store(path, s3), threads, log, {.trust = trust});
    if (!found)
      fail_user("{} has no checkpoint that can be read: look at it with trireme ckpt ls {}", path, path);
    return std::move(*found);
  }
  const std::filesystem::path given = without_last_slash(path);
  if (!is_folder(given))
    fail_user(
        "{} is no folder of a run or a checkpoint: name one like runs/demo or "
        "runs/demo/checkpoints/step-00000100",
        path);
  const std::string folder = (given / "checkpoints").string();
  auto found = newest(is_folder(folder) ? folder : given.string(), threads, log, {.trust = trust});
  if (!found) fail_user("{} has no checkpoint that can be read: train it first", path);
  return std::move(*found);
}

std::optional<OpenCheckpoint> own_checkpoint(const RunFolder& folder, const ResumeChoice& choice, int threads,
                                             Log& log, Trust trust) {
  CHECK(choice.kind != ResumeChoice::Kind::from, "{} is not the run's own", choice.path);
  std::error_code error;
  if (std::filesystem::is_symlink(folder.checkpoints(), error) &&
      !std::filesystem::exists(folder.checkpoints(), error))
    fail_env("{} is a link to a place that is not there: mount it, or remove the link to start anew",
             folder.checkpoints());
  if (choice.kind == ResumeChoice::Kind::automatic) {
    auto found = newest(folder.checkpoints(), threads, log, {.trust = trust});
    if (!found && !committed(folder.checkpoints()).empty())
      fail_all_damaged(*open_directory_store(folder.checkpoints()));
    return found;
  }
  if (is_folder(folder.checkpoints()) &&
      !list_checkpoints(*open_directory_store(folder.checkpoints())).empty())
    fail_user("--resume never, but {} has checkpoints: choose another run.name or remove them", folder.path);
  return std::nullopt;
}

std::optional<OpenCheckpoint> mirrored_checkpoint(const std::string& mirror, const S3Options& s3,
                                                  const ResumeChoice& choice, int threads, Log& log) {
  std::unique_ptr<ByteStore> store = open_store(mirror, s3);
  const size_t whole = committed_checkpoints(*store).size();
  if (choice.kind == ResumeChoice::Kind::never && whole > 0)
    fail_user(
        "--resume never, but checkpoint.mirror = {} has checkpoints: choose another place or remove them",
        mirror);
  if (whole == 0) return std::nullopt;
  auto found = newest_good(*store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); },
                           {.trust = Trust::index});
  if (!found) fail_all_damaged(*store);
  return OpenCheckpoint{std::move(store), std::move(*found)};
}

OpenCheckpoint older_checkpoint(OpenCheckpoint damaged, int threads, Log& log) {
  auto found =
      newest_good(*damaged.store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); },
                  {.trust = Trust::index, .before_step = damaged.reader.meta().step});
  if (!found) fail_all_damaged(*damaged.store);
  return {std::move(damaged.store), std::move(*found)};
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
  const auto shown = [](const std::string& value) { return value.empty() ? "(unset)" : value; };
  for (const Difference& difference : diff(before, spec)) {
    if (difference.effect != Effect::math) continue;
    if (difference.key.starts_with("model."))
      fail_user(
          "{} = {}, but the checkpoint was trained with {}: a run keeps its model; choose another run.name "
          "to start anew",
          difference.key, shown(difference.after), shown(difference.before));
    log.warn("{} was {} and is now {}", difference.key, shown(difference.before), shown(difference.after));
  }
}

}  // namespace trireme
