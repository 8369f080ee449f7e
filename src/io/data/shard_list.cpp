// Which of the files that a pattern matches are shards, and which only belong to one.
#include <algorithm>
#include <set>

#include "io/data/token_shard.h"
#include "io/files/file_list.h"

namespace trireme {
namespace {

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return path.ends_with(e); });
}

}  // namespace

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
