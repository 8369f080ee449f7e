// mmap and its end of life; the descriptor is closed at once, the mapping keeps the file.
#include "io/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

namespace trireme {

MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait for its other end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail_env("{}", with_errno("cannot open " + path));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    fail_env("cannot map {}: it is not a regular file", path);
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size > 0) {
    void* p = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
      const std::string message = with_errno(fmt::format("cannot map {} ({} bytes)", path, size));
      ::close(fd);
      fail_env("{}", message);
    }
    bytes_ = {static_cast<const std::byte*>(p), size};
  }
  ::close(fd);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace trireme
