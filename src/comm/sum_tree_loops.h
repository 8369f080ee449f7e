// The loops behind sum_tree, compiled once per instruction set. All lies in an anonymous namespace and uses
// nothing else that is inline: the linker must not merge code of two instruction sets.
#pragma once
#include <cstdint>

#include "comm/sum_tree.h"

namespace trireme {
namespace {

// bf16 as its bits; to_bf16 of base/dtype.h without branches.
struct Bf16Bits {
  uint16_t bits;
};

inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline float widen(Bf16Bits x) { return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16); }

inline void put(float* to, float x) { *to = x; }
inline void put(double* to, double x) { *to = x; }
inline void put(Bf16Bits* to, float x) {
  const uint32_t u = __builtin_bit_cast(uint32_t, x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (u >> 16) | 0x40u;
  to->bits = static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
}

constexpr int left_ranks(int ranks) {
  int left = 1;
  while (left * 2 < ranks) left *= 2;
  return left;
}

template <int kFirst, int kRanks, class In>
[[gnu::always_inline]] inline auto tree_at(const In* const* sources, int64_t i) {
  if constexpr (kRanks == 1) {
    return widen(sources[kFirst][i]);
  } else {
    constexpr int kLeft = left_ranks(kRanks);
    return tree_at<kFirst, kLeft>(sources, i) + tree_at<kFirst + kLeft, kRanks - kLeft>(sources, i);
  }
}

template <int kRanks, class In, class Out>
void sum_ranks(const void* const* sources, void* to, int64_t count) {
  const In* from[kRanks];
  for (int r = 0; r < kRanks; ++r) from[r] = static_cast<const In*>(sources[r]);
  Out* out = static_cast<Out*>(to);
  // In place, element i is read before it is written: nothing is carried from one turn to the next.
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) put(out + i, tree_at<0, kRanks>(from, i));
}

template <class In, class Out>
void sum(const void* const* sources, int ranks, void* to, int64_t count) {
  switch (ranks) {
    case 1:
      return sum_ranks<1, In, Out>(sources, to, count);
    case 2:
      return sum_ranks<2, In, Out>(sources, to, count);
    case 3:
      return sum_ranks<3, In, Out>(sources, to, count);
    case 4:
      return sum_ranks<4, In, Out>(sources, to, count);
    case 5:
      return sum_ranks<5, In, Out>(sources, to, count);
    case 6:
      return sum_ranks<6, In, Out>(sources, to, count);
    case 7:
      return sum_ranks<7, In, Out>(sources, to, count);
    default:
      return sum_ranks<8, In, Out>(sources, to, count);
  }
}

SumLoops loops_named(std::string_view name) {
  return {.name = name,
          .f32 = sum<float, float>,
          .f64 = sum<double, double>,
          .bf16 = sum<Bf16Bits, Bf16Bits>,
          .bf16_to_f32 = sum<Bf16Bits, float>,
          .f32_to_bf16 = sum<float, Bf16Bits>};
}

}  // namespace
}  // namespace trireme
