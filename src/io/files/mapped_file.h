// A file's bytes as read-only memory, for the shard readers and other readers of large files.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace trireme {

// Owns one mapping. A file of 0 bytes maps to an empty span. The file must not shrink while it is mapped.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);  // EnvError when it cannot be opened or is no regular file
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace trireme
