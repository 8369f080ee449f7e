// File descriptors that close themselves, and the calls on files and folders that the directory store
// makes, with every failure an EnvError that names the path. Durability rules of POSIX: a file's bytes are
// safe after fsync of the file, its name after fsync of the folder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trireme {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

FileDescriptor open_to_read(const std::string& path);     // a regular file; refuses anything else
FileDescriptor create_to_write(const std::string& path);  // must not exist yet

void write_all(int fd, std::span<const std::byte> bytes, const std::string& path);
void read_at(int fd, int64_t offset, std::span<std::byte> into, const std::string& path);
int64_t file_bytes(int fd, const std::string& path);

std::string parent_of(const std::string& path);  // "a" of "a/b", "." of "a", "/" of "/a"

void sync_file(int fd, const std::string& path);
void sync_folder(const std::string& path);
void make_folders(const std::string& path);  // durable; existing ones are fine
bool path_exists(const std::string& path);   // false only when it is certainly not there
void rename_path(const std::string& from, const std::string& to);
// Swaps two names in one instant. False where the file system cannot (NFS, old kernels).
bool exchange_paths(const std::string& a, const std::string& b);

}  // namespace trireme
