// Names at the end of paths and URLs.
#include "io/checkpoint/place.h"

#include <filesystem>

#include "io/checkpoint/names.h"
#include "io/store/posix_file.h"
#include "io/store/s3_address.h"

namespace trireme {
namespace fs = std::filesystem;

namespace {

std::optional<NamedCheckpoint> named_in_s3(const std::string& url) {
  S3Place place = parse_s3_url(url);
  const size_t slash = place.prefix.find_last_of('/');
  const size_t last = slash == std::string::npos ? 0 : slash + 1;
  const std::string name = place.prefix.substr(last);
  if (!step_of_name(name)) return std::nullopt;
  place.prefix.resize(last == 0 ? 0 : slash);
  return NamedCheckpoint{to_url(place), name};
}

}  // namespace

std::optional<NamedCheckpoint> named_checkpoint(const std::string& path) {
  if (is_s3_url(path)) return named_in_s3(path);
  const std::string given = without_last_slash(path);
  const std::string name = fs::path(given).filename().string();
  std::error_code ignored;
  if (!step_of_name(name) || !fs::is_directory(given, ignored) ||
      fs::is_directory(fs::path(given) / "checkpoints", ignored))
    return std::nullopt;
  return NamedCheckpoint{parent_of(given), name};
}

std::string without_last_slash(const std::string& path) {
  fs::path given = fs::path(path).lexically_normal();
  if (!given.has_filename()) given = given.parent_path();
  return given.string();
}

std::vector<CheckpointName> committed_checkpoints(const ByteStore& store) {
  std::vector<CheckpointName> found = list_checkpoints(store);
  std::erase_if(found, [](const CheckpointName& checkpoint) { return !checkpoint.committed; });
  return found;
}

}  // namespace trireme
