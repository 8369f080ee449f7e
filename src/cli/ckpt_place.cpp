// Folders by what lies in them, URLs by their last part.
#include "cli/ckpt_place.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "cli/store_environment.h"
#include "io/checkpoint/place.h"
#include "io/store/directory_store.h"
#include "io/store/open_store.h"
#include "io/store/s3_address.h"

namespace trireme::cli {
namespace {
namespace fs = std::filesystem;

// The folder of checkpoints that a path means: a run's, or that folder itself.
std::string checkpoints_folder(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    fail_user("there is no folder {}; give a run's folder, for example runs/demo", path);
  }
  if (fs::is_directory(path + "/checkpoints", ignored)) return path + "/checkpoints";
  if (!list_checkpoints(*open_directory_store(path)).empty()) return path;
  if (fs::exists(path + "/config.toml", ignored))
    return path + "/checkpoints";  // a run that saved nothing yet
  fail_user("{} is no run and holds no checkpoints; give a run's folder, for example runs/demo", path);
}

}  // namespace

CheckpointPlace checkpoint_place(const std::string& argument) {
  const S3Options s3 = s3_options_from_environment();
  if (auto one = named_checkpoint(argument)) return {open_store(one->in, s3), std::move(one->name)};
  return {open_store(is_s3_url(argument) ? argument : checkpoints_folder(argument), s3), ""};
}

std::unique_ptr<ByteStore> place_for_copies(const std::string& argument) {
  if (is_s3_url(argument)) {
    if (const auto one = named_checkpoint(argument))
      fail_user("{} is one checkpoint's place; name what it lies in, without /{}", argument, one->name);
    return open_store(argument, s3_options_from_environment());
  }
  const fs::path path = without_last_slash(argument);
  if (path.filename() == "checkpoints" || !list_checkpoints(*open_directory_store(path)).empty())
    return open_directory_store(path.string());
  return open_directory_store((path / "checkpoints").string());
}

}  // namespace trireme::cli
