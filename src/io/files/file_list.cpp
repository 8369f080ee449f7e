// glob(3), sorted here: its own order is the locale's.
#include "io/files/file_list.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  std::sort(paths.begin(), paths.end());  // by bytes, unlike the locale's order
  std::error_code error;
  std::erase_if(paths, [&](const std::string& path) { return !fs::is_regular_file(path, error); });
  return paths;
}

std::vector<std::string> expand(const std::string& pattern, const std::string& key) {
  std::error_code error;
  if (fs::is_directory(pattern, error)) {
    fail_user("{}: {} is a directory; name its files, for example {}/*", key, pattern, pattern);
  }
  if (fs::exists(pattern, error)) return {pattern};
  std::vector<std::string> paths = matches(pattern);
  if (paths.empty()) fail_user("{}: {} matches no file", key, pattern);
  return paths;
}

}  // namespace

std::vector<std::string> expand_files(const std::vector<std::string>& patterns, const std::string& key) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const std::string& pattern : patterns) {
    for (std::string& path : expand(pattern, key)) {
      if (seen.insert(path).second) files.push_back(std::move(path));
    }
  }
  return files;
}

}  // namespace trireme
