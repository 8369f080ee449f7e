// What holds for every store.
#include "io/store/byte_store.h"

#include "base/error.h"

namespace trireme {

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
