// What holds for every store.
#include "io/store/byte_store.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {

bool is_marker_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string read_text(const ByteStore& store, const std::string& path, int64_t limit_bytes) {
  const auto source = store.open(path);
  if (source->size_bytes() > limit_bytes) {
    fail_env("{} has {} bytes; at most {} make sense", store.locate(path), source->size_bytes(), limit_bytes);
  }
  std::string text(static_cast<size_t>(source->size_bytes()), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace trireme
