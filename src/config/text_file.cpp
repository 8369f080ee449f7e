// In blocks up to a limit, for what is read may have no end.
#include "config/text_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace trireme {

std::string read_text_file(const std::string& path, const std::string& what) {
  constexpr size_t kMostBytes = size_t{64} << 20, kBlockBytes = size_t{1} << 16;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_user("{} {} is a folder, not a file", what, path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("{}", with_errno(fmt::format("cannot open {} {}", what, path)));
  std::string text;
  while (file) {
    const size_t size = text.size();
    text.resize(size + kBlockBytes);
    file.read(text.data() + size, kBlockBytes);
    text.resize(size + static_cast<size_t>(file.gcount()));
    if (text.size() > kMostBytes)
      fail_user("{} {} has more than {} bytes; give a text file", what, path, kMostBytes);
  }
  if (file.bad()) fail_env("{}", with_errno(fmt::format("cannot read {} {}", what, path)));
  return text;
}

}  // namespace trireme
