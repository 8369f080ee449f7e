// A safetensors file in memory, mapped read-only. (A file that another program truncates while it is
// mapped raises SIGBUS; checkpoints, which may be damaged, are read through a ByteStore instead.)
#include "base/error.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), mapped_(path) {
  const auto bytes = static_cast<int64_t>(mapped_.bytes().size());
  if (bytes < 8) fail_env("{} has {} bytes; not a safetensors file", path, bytes);
  header_ = parse_safetensors_header(mapped_.bytes(), bytes, path);
}

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
  return mapped_.bytes().subspan(static_cast<size_t>(entry.begin),
                                 static_cast<size_t>(entry.end - entry.begin));
}

}  // namespace trireme
