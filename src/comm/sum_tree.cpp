// Picks the loops by the machine, and sums more than kSumFan ranks in levels: blocks of kSumFan ranks are
// subtrees, whose partial sums stay in cache.
#include "comm/sum_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace trireme {
namespace {

// Elements that go through all levels at once; a block per kSumFan ranks must fit into the nearest caches.
constexpr int64_t kRun = 1024;

DType partial_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

using Loop = void (*)(const void* const*, int, void*, int64_t);

Loop loop_of(const SumLoops& loops, DType from, DType to) {
  if (from == DType::f64) return loops.f64;
  if (from == DType::bf16) return to == DType::bf16 ? loops.bf16 : loops.bf16_to_f32;
  return to == DType::bf16 ? loops.f32_to_bf16 : loops.f32;
}

// One run of elements, level by level; `partials` has room for a run per block of the first level, twice.
void sum_run(const SumLoops& loops, DType dtype, std::vector<const void*> sources, std::byte* partials,
             void* to, int64_t count) {
  const DType partial = partial_of(dtype);
  DType level = dtype;
  while (sources.size() > kSumFan) {
    std::vector<const void*> sums;
    for (size_t first = 0; first < sources.size(); first += kSumFan) {
      const int ranks = static_cast<int>(std::min<size_t>(kSumFan, sources.size() - first));
      loop_of(loops, level, partial)(sources.data() + first, ranks, partials, count);
      sums.push_back(partials);
      partials += kRun * size_of(partial);
    }
    sources = std::move(sums);
    level = partial;
  }
  loop_of(loops, level, dtype)(sources.data(), static_cast<int>(sources.size()), to, count);
}

struct LoopList {
  std::array<SumLoops, 3> loops;
  size_t count = 0;
};

LoopList runnable() {
  LoopList list;
  list.loops[list.count++] = sum_loops_baseline();
  if (!__builtin_cpu_supports("avx2")) return list;
  list.loops[list.count++] = sum_loops_avx2();
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return list;
  list.loops[list.count++] = sum_loops_avx512();
  return list;
}

}  // namespace

void check_summable(DType dtype) {
  CHECK(dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f64, "dtype = {}", name_of(dtype));
}

std::span<const SumLoops> sum_loops() {
  static const LoopList kList = runnable();
  return {kList.loops.data(), kList.count};
}

void sum_tree(const SumLoops& loops, DType dtype, std::span<const void* const> sources, void* to,
              int64_t count) {
  check_summable(dtype);
  CHECK(!sources.empty());
  if (sources.size() <= kSumFan)
    return loop_of(loops, dtype, dtype)(sources.data(), static_cast<int>(sources.size()), to, count);
  const int64_t element_bytes = size_of(dtype);
  std::vector<std::byte> partials(sources.size() / (kSumFan - 1) * 2 * kRun * sizeof(double));
  std::vector<const void*> run(sources.size());
  for (int64_t begin = 0; begin < count; begin += kRun) {
    for (size_t r = 0; r < run.size(); ++r)
      run[r] = static_cast<const std::byte*>(sources[r]) + begin * element_bytes;
    sum_run(loops, dtype, run, partials.data(), static_cast<std::byte*>(to) + begin * element_bytes,
            std::min(kRun, count - begin));
  }
}

void sum_tree(DType dtype, std::span<const void* const> sources, void* to, int64_t count) {
  sum_tree(sum_loops().back(), dtype, sources, to, count);
}

}  // namespace trireme
