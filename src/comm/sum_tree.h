// The sum over ranks, in the one order that all backends use. The tree pairs neighbours, level by level; at
// an odd count the last one goes up a level as it is:
//
//   8 ranks: ((r0+r1)+(r2+r3))+((r4+r5)+(r6+r7))     5 ranks: ((r0+r1)+(r2+r3))+r4     3 ranks: (r0+r1)+r2
//
// In other words: the left part has the largest power of two of ranks that is less than all of them. A block
// of 2^k ranks that starts at a multiple of 2^k is a subtree, so partial sums (f32 for bf16) of such blocks
// combine to the same bits. Elements do not depend on each other: pieces, threads and instruction sets change
// no bit.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace trireme {

// f32, bf16 and f64 can be summed; another dtype is a bug.
void check_summable(DType dtype);

// to[i] = sum over sources[r][i], i < count; bf16 is summed in f32 and rounded once. `to` may be one of the
// sources; otherwise nothing overlaps. At least one source.
void sum_tree(DType dtype, std::span<const void* const> sources, void* to, int64_t count);

// The loops of one instruction set, for up to kSumFan sources; the results are the same on each.
constexpr int kSumFan = 8;
struct SumLoops {
  std::string_view name;
  void (*f32)(const void* const* sources, int ranks, void* to, int64_t count);
  void (*f64)(const void* const* sources, int ranks, void* to, int64_t count);
  void (*bf16)(const void* const* sources, int ranks, void* to, int64_t count);         // rounds
  void (*bf16_to_f32)(const void* const* sources, int ranks, void* to, int64_t count);  // a partial sum
  void (*f32_to_bf16)(const void* const* sources, int ranks, void* to, int64_t count);  // of partial sums
};
SumLoops sum_loops_baseline();
SumLoops sum_loops_avx2();
SumLoops sum_loops_avx512();
// Those that this machine can run, the best one last.
std::span<const SumLoops> sum_loops();
// As above, with loops of the caller's choice.
void sum_tree(const SumLoops& loops, DType dtype, std::span<const void* const> sources, void* to,
              int64_t count);

}  // namespace trireme
