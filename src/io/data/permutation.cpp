// The Feistel rounds of the sample order. Changing anything here changes the data order of every run.
#include "io/data/permutation.h"

#include <bit>

#include "base/error.h"

namespace trireme {
namespace {

constexpr int kRounds = 8;

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t permuted(uint64_t i, uint64_t size, uint64_t key) {
  CHECK(i < size, "element {} of {}", i, size);
  const int bits = std::bit_width(size - 1);
  const int low_bits = (bits + 1) / 2;
  const uint64_t low_mask = (1ull << low_bits) - 1;
  const uint64_t high_mask = (1ull << (bits - low_bits)) - 1;
  do {
    uint64_t low = i & low_mask, high = i >> low_bits;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t round_key = mix(key + 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(round + 1));
      if (round % 2 == 0) {
        low ^= mix(high ^ round_key) & low_mask;
      } else {
        high ^= mix(low ^ round_key) & high_mask;
      }
    }
    i = (high << low_bits) | low;
  } while (i >= size);
  return i;
}

}  // namespace trireme
