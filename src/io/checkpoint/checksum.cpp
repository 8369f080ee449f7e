// xxHash's XXH3, 128 bits, over whole ranges.
#include "io/checkpoint/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

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

BackgroundChecksums::BackgroundChecksums(std::vector<std::span<const std::byte>> ranges, int threads)
    : ranges_(std::move(ranges)), results_(ranges_.size()) {
  for (int i = 1; i < threads && static_cast<size_t>(i) < ranges_.size(); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

BackgroundChecksums::~BackgroundChecksums() {
  next_ = ranges_.size();  // on an error nobody needs the rest
  for (std::thread& thread : threads_) thread.join();
}

std::vector<Checksum> BackgroundChecksums::take() {
  work();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return std::move(results_);
}

void BackgroundChecksums::work() {
  for (size_t i = next_++; i < ranges_.size(); i = next_++) results_[i] = checksum_of(ranges_[i]);
}

}  // namespace trireme
