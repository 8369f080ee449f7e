// xxHash's XXH3, 128 bits, over whole ranges.
#include "io/checkpoint/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"

namespace trireme {

Checksum checksum_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

Checksum checksum_of(const std::string& text) { return checksum_of(std::as_bytes(std::span(text))); }

std::string to_hex(const Checksum& checksum) {
  return fmt::format("{:016x}{:016x}", checksum.high, checksum.low);
}

RunningChecksum::RunningChecksum() : state_(XXH3_createState()) {
  CHECK(state_ != nullptr);
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}

RunningChecksum::~RunningChecksum() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void RunningChecksum::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

Checksum RunningChecksum::value() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace trireme
