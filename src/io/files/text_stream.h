// The bytes of a text file, unpacked on the way when it is gzip or zstd (told by its first bytes, not its
// name).
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace trireme {

class TextStream {
 public:
  explicit TextStream(const std::string& path);  // EnvError when it cannot be opened
  TextStream(TextStream&&) noexcept;
  ~TextStream();

  // Up to `size` (> 0) bytes; 0 = the end. EnvError: the file cannot be read. UserError: its compressed data
  // are damaged or cut off.
  size_t read(char* out, size_t size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True for names of lines of JSON: .jsonl or .ndjson, also with .gz or .zst behind.
bool is_json_lines(const std::string& path);

}  // namespace trireme
