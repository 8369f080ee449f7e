// Random numbers without state: a value is a function of (seed, purpose, index), so weights and data
// order are the same in every layout and need no saving. Philox4x32-10 (Salmon et al. 2011, "Parallel
// random numbers: as easy as 1, 2, 3").
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace trireme {

// One Philox block: 128 random bits for a 128-bit counter and a 64-bit key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A stream of numbers for one purpose ("init/layers.0.attn.qkv.weight", "data/epoch"): the name is hashed
// into the counter, the index says which number.
struct RandomStream {
  RandomStream(uint64_t seed, std::string_view purpose);

  uint64_t bits(uint64_t index) const;   // uniform 64 bits
  double uniform(uint64_t index) const;  // [0, 1), 53 bits
  float normal(uint64_t index) const;    // mean 0, deviation 1 (Box-Muller, one number per index)

  uint64_t seed;
  uint64_t purpose_hash;
};

}  // namespace trireme
