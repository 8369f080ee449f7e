// xxh3-128 checksums.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trireme {

struct Checksum {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Checksum&) const = default;
};

Checksum checksum_of(std::span<const std::byte> bytes);
Checksum checksum_of(const std::string& text);
std::string to_hex(const Checksum& checksum);  // 32 digits, as `xxhsum -H128` prints it

// The same, of bytes that come one after another.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void add(std::span<const std::byte> bytes);
  Checksum value() const;

 private:
  void* state_;  // xxHash's own
};

}  // namespace trireme
