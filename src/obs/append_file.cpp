// Appending and replacing with POSIX calls.
#include "obs/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace trireme {
namespace fs = std::filesystem;

AppendFile::AppendFile(const std::string& path) : path_(path) {
  std::error_code error;
  if (fs::path(path).has_parent_path()) fs::create_directories(fs::path(path).parent_path(), error);
  if (error) fail_env("cannot make the folder of {}: {}", path, error.message());
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) fail_env("{}", with_errno("cannot open " + path));
}

AppendFile::~AppendFile() { ::close(fd_); }

void AppendFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_env("{}", with_errno("cannot write " + path_));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void AppendFile::sync() {
  // A pipe or a device in its place has nothing to make durable.
  if (::fdatasync(fd_) != 0 && errno != EINVAL) fail_env("{}", with_errno("cannot write " + path_));
}

void replace_file(const std::string& path, const std::function<void(AppendFile&)>& fill) {
  const std::string stand_in = path + ".tmp";
  std::error_code error;
  fs::remove(stand_in, error);  // of a kill
  {
    AppendFile file(stand_in);
    fill(file);
    file.sync();
  }
  fs::rename(stand_in, path, error);
  if (error) fail_env("cannot replace {}: {}", path, error.message());
}

std::string read_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // Pipes and devices can be written to and hold nothing to read.
  if (!fs::exists(status) || !(fs::is_regular_file(status) || fs::is_directory(status))) return "";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_env("{}", with_errno("cannot open " + path));
  std::string text;
  char buffer[65536];
  ssize_t n;
  while ((n = ::read(fd, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  const int read_error = errno;
  ::close(fd);
  errno = read_error;
  if (n < 0) fail_env("{}", with_errno("cannot read " + path));
  return text;
}

}  // namespace trireme
