// Where a slot's scratch keeps what: the same code counts the bytes (in the op's definition) and hands out
// the pointers (in the kernels). Rows are padded to 32 and head dims to 32, so that no tile has a tail.
#pragma once
#include <cstddef>

#include "ops/attention/flash.h"

namespace trireme {
namespace {

inline int64_t pad32(int64_t n) { return (n + 31) / 32 * 32; }

// Hands out 64-byte aligned pieces of a buffer; with a null base it only counts.
struct Carver {
  char* base = nullptr;
  int64_t used = 0;
  // Points each of `pieces` at room for `count` elements.
  template <class... E>
  void take(int64_t count, E*&... pieces) {
    (take_one(count, pieces), ...);
  }
  template <class E>
  void take_one(int64_t count, E*& piece) {
    piece = base != nullptr ? reinterpret_cast<E*>(base + used) : nullptr;
    used += (count * static_cast<int64_t>(sizeof(E)) + 63) / 64 * 64;
  }
};

// E: float for the vector kernels, uint16_t (bf16 bits) for the tile kernels.
inline constexpr int64_t kQueryRows = 64;  // queries of one block
inline constexpr int64_t kKeyRows = 128;   // keys of one block

// The keys that a query of the block may see.
struct BlockSpan {
  int32_t first[kQueryRows], last[kQueryRows];
  int32_t lowest_first, highest_first, lowest_last, highest_last;
};

template <class E>
struct ForwardBuffers {
  E *k = nullptr, *v = nullptr, *q = nullptr;  // packed
  float *scores = nullptr, *out = nullptr;     // [keys, queries] and [head_dim, queries]
  E* weights = nullptr;                        // exp(scores), for the tile kernels
  float *top = nullptr, *sum = nullptr;        // per query
  BlockSpan* span = nullptr;
};

template <class E>
int64_t carve(ForwardBuffers<E>& buffers, void* base, int64_t key_rows, int64_t head_dim) {
  Carver carver{static_cast<char*>(base)};
  const int64_t D = pad32(head_dim), keys = pad32(key_rows);
  carver.take(keys * D, buffers.k, buffers.v);
  carver.take(kQueryRows * D, buffers.q);
  carver.take(kQueryRows * D, buffers.out);
  carver.take(kKeyRows * kQueryRows, buffers.scores, buffers.weights);
  carver.take(kQueryRows, buffers.top, buffers.sum);
  carver.take(1, buffers.span);
  return carver.used;
}

template <class E>
struct BackwardBuffers {
  E *k = nullptr, *v = nullptr, *k_columns = nullptr;  // all keys; k_columns for the tile kernels
  E *q_columns = nullptr, *dy_columns = nullptr;       // all queries of one head, transposed
  E *q_rows = nullptr, *dy_rows = nullptr;             // the same by rows
  float *lse = nullptr, *delta = nullptr;              // per query
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;   // sums
  float *scores = nullptr, *dweights = nullptr;        // [keys, queries] of one block
  E *weights = nullptr, *dscores = nullptr, *dscores_columns = nullptr;  // of one block, for the tile kernels
  BlockSpan* spans = nullptr;                                            // per block of queries
};

template <class E>
int64_t carve(BackwardBuffers<E>& b, void* base, int64_t query_rows, int64_t key_rows, int64_t head_dim) {
  Carver carver{static_cast<char*>(base)};
  const int64_t D = pad32(head_dim), keys = pad32(key_rows), queries = pad32(query_rows);
  carver.take(keys * D, b.k, b.v, b.k_columns, b.dk, b.dv);
  carver.take(queries * D, b.q_columns, b.dy_columns, b.q_rows, b.dy_rows, b.dq);
  carver.take(queries, b.lse, b.delta);
  carver.take(kKeyRows * kQueryRows, b.scores, b.dweights, b.weights, b.dscores, b.dscores_columns);
  carver.take((queries + kQueryRows - 1) / kQueryRows, b.spans);
  return carver.used;
}

}  // namespace
}  // namespace trireme
