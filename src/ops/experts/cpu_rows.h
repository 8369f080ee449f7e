// Rows found by index, and the blocks that an expert's rows are worked off in.
#pragma once
#include <cstring>

#include "device/cpu/parallel.h"
#include "ops/experts/cpu_kernels.h"
#include "ops/experts/experts.h"

namespace trireme {

GateKernels pick_gate_kernels(DType dtype, CpuIsa isa);

// to[i] = from[source[i] / divisor]
struct Gather {
  const std::byte* from = nullptr;
  const int32_t* source = nullptr;
  int64_t divisor = 1;
  int64_t rows = 0, row_bytes = 0;
};

inline void gather_rows(const Gather& g, std::byte* to, int threads) {
  parallel_for(threads, g.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + i * g.row_bytes, g.from + g.source[i] / g.divisor * g.row_bytes,
                  static_cast<size_t>(g.row_bytes));
  });
}

// to[place[i]] = from[i]
inline void scatter_rows(const std::byte* from, const int32_t* place, int64_t rows, int64_t row_bytes,
                         std::byte* to, int threads) {
  parallel_for(threads, rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + place[i] * row_bytes, from + i * row_bytes, static_cast<size_t>(row_bytes));
  });
}

template <class T>
T* scratch_at(const Operands& o, int64_t offset) {
  return reinterpret_cast<T*>(o.scratch + offset);
}

// A row per token at `to`: the sum of the rows of its choices, which lie by slot in the scratch.
inline void sum_choices(const ExpertsSizes& s, const ExpertsSpace& space, const GateKernels& kernels,
                        const Operands& o, std::byte* to, int threads) {
  const auto* slots = scratch_at<std::byte>(o, space.slots);
  const auto* slot_of_choice = scratch_at<int32_t>(o, space.slot_of_choice);
  parallel_for(threads, s.tokens, 16, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      kernels.combine(slots, slot_of_choice + t * s.top_k, s.top_k, to + t * s.row_bytes(), s.width);
  });
}

// Some rows of one expert, numbered among all sorted rows of a round.
struct RowBlock {
  int64_t expert = 0, first = 0, rows = 0;
};

// Calls body for each block, expert by expert.
template <class Body>
void for_each_block(const int64_t* rows_of_expert, int64_t experts, const Body& body) {
  int64_t first = 0;
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t rows = rows_of_expert[e], blocks = experts_blocks(rows);
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t begin = rows * i / blocks, end = rows * (i + 1) / blocks;
      body(RowBlock{e, first + begin, end - begin});
    }
    first += rows;
  }
}

// Where a round's rows come from: row p of the sorted is from[source[p] / divisor], its weight
// weights[weight_source[p]].
struct RoundRows {
  const std::byte* from = nullptr;
  const int32_t* source = nullptr;
  int64_t divisor = 1;
  const float* weights = nullptr;
  const int32_t* weight_source = nullptr;
};

}  // namespace trireme
