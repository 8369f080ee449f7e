// fread until the end.
#include "io/files/whole_file.h"

#include <array>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace trireme {

std::string read_stream(std::FILE* stream, const std::string& name) {
  std::string text;
  std::array<char, 1 << 16> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), stream)) text.append(block.data(), got);
  if (std::ferror(stream) != 0) fail_env("{}", with_errno("cannot read " + name));
  return text;
}

std::string read_whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) fail_env("{}", with_errno("cannot open " + path));
  return read_stream(file.get(), path);
}

}  // namespace trireme
