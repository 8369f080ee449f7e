// POSIX calls with their errors named; loops over short writes and interrupted calls.
#include "io/store/posix_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "io/store/byte_store.h"

namespace trireme {
namespace {
constexpr size_t kCallBytes = size_t{8} << 20;  // per write or read call; below Linux's limit of 2 GiB

[[noreturn]] void fail(const char* what, const std::string& path) {
  fail_env("{}", with_errno(fmt::format("cannot {} {}", what, path)));
}

int open_retrying(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  return fd;
}
}  // namespace

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() { return std::exchange(fd_, -1); }

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

FileDescriptor open_to_read(const std::string& path) {
  FileDescriptor fd(open_retrying(path, O_RDONLY | O_NONBLOCK));  // a pipe in its place must not hang us
  if (fd.get() < 0) fail("open", path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("look at", path);
  if (!S_ISREG(info.st_mode)) throw NotAnObject(path + " is not a regular file");
  return fd;
}

FileDescriptor create_to_write(const std::string& path) {
  FileDescriptor fd(open_retrying(path, O_WRONLY | O_CREAT | O_EXCL));
  if (fd.get() < 0) fail("create", path);
  return fd;
}

void write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kCallBytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void read_at(int fd, int64_t offset, std::span<std::byte> into, const std::string& path) {
  while (!into.empty()) {
    const ssize_t n = ::pread(fd, into.data(), std::min(into.size(), kCallBytes), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path);
    if (n == 0) fail_env("{} ends at byte {}, {} bytes too early", path, offset, into.size());
    into = into.subspan(static_cast<size_t>(n));
    offset += n;
  }
}

int64_t file_bytes(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail("look at", path);
  return info.st_size;
}

void sync_file(int fd, const std::string& path) {
  int result;
  do {
    result = ::fsync(fd);
  } while (result != 0 && errno == EINTR);
  if (result != 0) fail("write", path);
}

void sync_folder(const std::string& path) {
  FileDescriptor fd(open_retrying(path, O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) fail("open the folder", path);
  // Some network file systems have no fsync for folders; there the server orders names itself.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) fail("write the folder", path);
}

void make_folders(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    if (errno == EEXIST) {
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0) fail("look at", path);
      if (!S_ISDIR(info.st_mode)) fail_env("{} is a file; a folder must be there", path);
      return;
    }
    if (errno != ENOENT) fail("make the folder", path);
    make_folders(parent_of(path));
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail("make the folder", path);
  }
  sync_folder(parent_of(path));
}

bool path_exists(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) fail("look at", path);
  return false;
}

void rename_path(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail_env("{}", with_errno(fmt::format("cannot rename {} to {}", from, to)));
  }
}

bool exchange_paths(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS) return false;
  fail_env("{}", with_errno(fmt::format("cannot swap {} and {}", a, b)));
}

}  // namespace trireme
