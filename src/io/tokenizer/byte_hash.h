// A hash of short byte strings for the tokenizer's tables: eight bytes per step, multiply and fold.
// It never leaves memory, so it may change at any time.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace trireme {

inline uint64_t mix_words(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = mix_words(hash ^ word, 0xd6e8feb86659fd93u);
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = mix_words(hash ^ word, 0xa0761d6478bd642fu);
  }
  return mix_words(hash, 0xe7037ed1a0b428dbu);
}

}  // namespace trireme
