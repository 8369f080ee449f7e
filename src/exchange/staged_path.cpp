// A hidden name beside the target, then a rename.
#include "exchange/staged_path.h"

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "io/checkpoint/place.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

void require_free(const std::string& path, Staged what) {
  if (path.empty())
    fail_user("the place to write to is empty; name a {}", what == Staged::file ? "file" : "folder");
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)) &&
      !(what == Staged::folder && fs::is_directory(path, error) && fs::is_empty(path, error)))
    fail_user("{} is there already; name another place or remove it", path);
}

}  // namespace

StagedPath::StagedPath(const std::string& path, Staged what)
    : target_(without_last_slash(path)), what_(what) {
  require_free(target_, what_);
  const std::string folder = parent_of(target_);
  make_folders(folder);
  staged_ = fmt::format("{}/.tmp-{}-{}", folder, fs::path(target_).filename().string(), ::getpid());
}

StagedPath::~StagedPath() {
  std::error_code ignored;
  if (!staged_.empty()) fs::remove_all(staged_, ignored);
}

void StagedPath::publish() {
  require_free(target_, what_);
  rename_path(staged_, target_);
  sync_folder(parent_of(target_));
  staged_.clear();
}

}  // namespace trireme
