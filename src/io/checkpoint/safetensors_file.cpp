// A safetensors file in memory, mapped read-only. (A file that another program truncates while it is
// mapped raises SIGBUS; checkpoints, which may be damaged, are read through a ByteStore instead.)
#include <sys/mman.h>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"
#include "io/store/posix_file.h"

namespace trireme {

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const FileDescriptor fd = open_to_read(path);
  const int64_t bytes = file_bytes(fd.get(), path);
  if (bytes < 8) fail_env("{} has {} bytes; not a safetensors file", path, bytes);
  void* base = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (base == MAP_FAILED) fail_env("{}", with_errno("cannot map " + path));
  mapped_ = {static_cast<const std::byte*>(base), static_cast<size_t>(bytes)};
  try {
    header_ = parse_safetensors_header(mapped_, bytes, path);
  } catch (...) {
    ::munmap(base, mapped_.size());
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() { ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size()); }

const SafetensorsEntry& SafetensorsFile::entry(const std::string& name) const {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : header_.entries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string near = nearest(name, names);
  fail_env("{} has no tensor {}{}", path_, name, near.empty() ? "" : "; the nearest is " + near);
}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  return mapped_.subspan(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.end - entry.begin));
}

}  // namespace trireme
