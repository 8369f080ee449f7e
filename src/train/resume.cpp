// Choosing and holding a checkpoint against the config.
#include "train/resume.h"

#include <filesystem>

#include "base/error.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {

std::optional<OpenCheckpoint> newest(const std::string& folder, int threads, Log& log) {
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  std::unique_ptr<ByteStore> store = open_directory_store(folder);
  auto found =
      newest_good(*store, {.threads = threads}, [&](const std::string& why) { log.warn("{}", why); });
  if (!found) return std::nullopt;
  return OpenCheckpoint{std::move(store), std::move(*found)};
}

bool is_checkpoint_name(const std::string& name) { return name.starts_with("step-"); }

}  // namespace

OpenCheckpoint open_checkpoint(const std::string& path, int threads, Log& log) {
  std::filesystem::path given = std::filesystem::path(path).lexically_normal();
  if (given.filename().empty()) given = given.parent_path();
  if (!std::filesystem::is_directory(given)) fail_user("{} is no run and no checkpoint", path);
  if (is_checkpoint_name(given.filename().string())) {
    const std::string folder = given.has_parent_path() ? given.parent_path().string() : ".";
    std::unique_ptr<ByteStore> store = open_directory_store(folder);
    CheckpointReader reader(*store, given.filename().string(), {.threads = threads});
    return {std::move(store), std::move(reader)};
  }
  const std::string folder = (given / "checkpoints").string();
  auto found = newest(std::filesystem::is_directory(folder) ? folder : given.string(), threads, log);
  if (!found) fail_user("{} has no checkpoint that can be read", path);
  return std::move(*found);
}

std::optional<OpenCheckpoint> choose_checkpoint(const RunFolder& folder, const ResumeChoice& choice,
                                                int threads, Log& log) {
  switch (choice.kind) {
    case ResumeChoice::Kind::automatic:
      return newest(folder.checkpoints(), threads, log);
    case ResumeChoice::Kind::from:
      return open_checkpoint(choice.path, threads, log);
    case ResumeChoice::Kind::never:
      break;
  }
  if (std::filesystem::is_directory(folder.checkpoints()) &&
      !list_checkpoints(*open_directory_store(folder.checkpoints())).empty())
    fail_user("--resume never, but {} has checkpoints: choose another run.name or remove them", folder.path);
  return std::nullopt;
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
