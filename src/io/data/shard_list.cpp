// Names and globs to files, in an order that no file system decides.
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "io/data/token_shard.h"

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

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return path.ends_with(e); });
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

std::vector<std::string> expand_shards(const std::vector<std::string>& patterns, const std::string& key) {
  std::vector<std::string> files = expand_files(patterns, key);
  const std::set<std::string> all(files.begin(), files.end());
  std::erase_if(files, [&](const std::string& path) {
    if (ends_with_any(path, {".ds.index", ".ds.metadata", ".ds.loss"})) {
      return all.contains(path.substr(0, path.rfind('.')));
    }
    return path.ends_with(".idx") && all.contains(path.substr(0, path.size() - 4) + ".bin");
  });
  return files;
}

}  // namespace trireme
