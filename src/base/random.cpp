// Philox rounds and the distributions drawn from them.
#include "base/random.h"

#include <cmath>
#include <numbers>

namespace trireme {
namespace {

// FNV-1a with a final mix: purposes are few and named, so spreading them is all that is asked.
uint64_t hash_name(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ull * c[0];
    const uint64_t b = 0xCD9E8D57ull * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

RandomStream::RandomStream(uint64_t s, std::string_view purpose)
    : seed(s), purpose_hash(hash_name(purpose)) {}

static std::array<uint32_t, 4> block(const RandomStream& stream, uint64_t index) {
  return philox(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
       static_cast<uint32_t>(stream.purpose_hash), static_cast<uint32_t>(stream.purpose_hash >> 32)},
      {static_cast<uint32_t>(stream.seed), static_cast<uint32_t>(stream.seed >> 32)});
}

uint64_t RandomStream::bits(uint64_t index) const {
  const auto w = block(*this, index);
  return (static_cast<uint64_t>(w[1]) << 32) | w[0];
}

double RandomStream::uniform(uint64_t index) const {
  return static_cast<double>(bits(index) >> 11) * 0x1.0p-53;
}

float RandomStream::normal(uint64_t index) const {
  const auto w = block(*this, index);
  const double u = (static_cast<double>(w[0]) + 0.5) * 0x1.0p-32;
  const double angle = 2 * std::numbers::pi * (static_cast<double>(w[1]) * 0x1.0p-32);
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(angle));
}

}  // namespace trireme
