// A file as a whole.
#include "config/text_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace trireme {

std::string read_text_file(const std::string& path, const std::string& what) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("{}", with_errno(fmt::format("cannot open {} {}", what, path)));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_user("{} {} is a folder, not a file", what, path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail_env("{}", with_errno(fmt::format("cannot read {} {}", what, path)));
  return text;
}

}  // namespace trireme
