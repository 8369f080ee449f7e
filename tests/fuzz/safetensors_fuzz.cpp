// Fuzzes the safetensors header: whatever the bytes, either an EnvError or entries that cover the file.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trireme;
  const std::vector<std::byte> file(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + size);
  const auto file_bytes = static_cast<int64_t>(size);
  try {
    const int64_t header_bytes = safetensors_header_bytes(file, file_bytes, "fuzz");
    // Exactly the header on the heap: reading past it is seen.
    const std::vector<std::byte> head(file.begin(), file.begin() + header_bytes);
    const SafetensorsHeader header = parse_safetensors_header(head, file_bytes, "fuzz");
    int64_t at = header.bytes;
    for (const SafetensorsEntry& entry : header.entries) {
      if (entry.begin != at || entry.end < entry.begin) std::abort();
      at = entry.end;
    }
    if (at != file_bytes) std::abort();
  } catch (const EnvError&) {
  }
  return 0;
}
