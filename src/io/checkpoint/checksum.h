// xxh3-128 checksums, of one range and of many ranges on several threads.
#pragma once
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

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

// Hashes ranges in the background on threads - 1 threads while the caller writes them; take() lends a hand
// and returns when all are done. The bytes must not change until then.
class BackgroundChecksums {
 public:
  BackgroundChecksums(std::vector<std::span<const std::byte>> ranges, int threads);
  BackgroundChecksums(const BackgroundChecksums&) = delete;
  BackgroundChecksums& operator=(const BackgroundChecksums&) = delete;
  ~BackgroundChecksums();

  std::vector<Checksum> take();  // in the order of the ranges; call once

 private:
  void work();

  std::vector<std::span<const std::byte>> ranges_;
  std::vector<Checksum> results_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace trireme
