// Folders by what lies in them, URLs by their last part.
#include "cli/ckpt_place.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "cli/store_environment.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"
#include "io/store/s3_store.h"

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

// Lexically: "runs/demo/checkpoints/step-00000100/" without its last slash.
fs::path without_last_slash(const std::string& argument) {
  fs::path path = fs::path(argument).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path;
}

CheckpointPlace s3_place(const std::string& url) {
  S3Place place = parse_s3_url(url);
  const size_t slash = place.prefix.find_last_of('/');
  const size_t last = slash == std::string::npos ? 0 : slash + 1;
  std::string name = place.prefix.substr(last);
  if (!step_of_name(name)) return {open_s3_store(place, s3_options_from_environment()), ""};
  place.prefix.resize(last == 0 ? 0 : slash);
  return {open_s3_store(place, s3_options_from_environment()), std::move(name)};
}

}  // namespace

CheckpointPlace checkpoint_place(const std::string& argument) {
  if (is_s3_url(argument)) return s3_place(argument);
  const fs::path path = without_last_slash(argument);
  // A run may be called step-00000001 as well.
  std::error_code ignored;
  if (fs::is_directory(path, ignored) && step_of_name(path.filename().string()) &&
      !fs::is_directory(path / "checkpoints", ignored)) {
    return {open_directory_store(path.has_parent_path() ? path.parent_path().string() : "."),
            path.filename().string()};
  }
  return {open_directory_store(checkpoints_folder(argument)), ""};
}

std::unique_ptr<ByteStore> place_for_copies(const std::string& argument) {
  if (is_s3_url(argument)) {
    CheckpointPlace place = s3_place(argument);
    if (!place.name.empty())
      fail_user("{} is one checkpoint's place; name what it lies in, without /{}", argument, place.name);
    return std::move(place.store);
  }
  const fs::path path = without_last_slash(argument);
  if (path.filename() == "checkpoints" || !list_checkpoints(*open_directory_store(path)).empty())
    return open_directory_store(path.string());
  return open_directory_store((path / "checkpoints").string());
}

std::vector<std::string> committed_names(const ByteStore& store) {
  std::vector<std::string> names;
  for (const CheckpointName& checkpoint : list_checkpoints(store)) {
    if (checkpoint.committed) names.push_back(checkpoint.name);
  }
  return names;
}

}  // namespace trireme::cli
