// Attention of a rank's rows against pieces of the keys: which pairs of pieces see each other, and the flash
// kernel's task for such a pair. cpu_ring.cpp and cpu_gather.cpp say where the keys come from.
#pragma once
#include <vector>

#include "ops/attention/context.h"
#include "ops/attention/context_buffers.h"
#include "ops/attention/context_rows.h"
#include "ops/attention/cpu_tasks.h"

namespace trireme {

// Contiguous rows of the sequence that are queries here.
struct QueryPart {
  int64_t begin = 0, rows = 0;  // in the sequence
  int64_t at = 0;               // in the rank's rows
};

// Contiguous rows of the sequence as keys: of sequence 0 and key head 0; head h lies h * D further on.
template <class T>
struct KeyPart {
  int64_t begin = 0, rows = 0;
  const T *k = nullptr, *v = nullptr;
  int64_t row = 0, sequence = 0;       // strides
  float *dk = nullptr, *dv = nullptr;  // backward: sums, with the same stride of rows
  int64_t sum_sequence = 0;
};

template <class T>
KeyPart<T> slice(KeyPart<T> part, int64_t from, int64_t to) {
  part.begin += from, part.rows = to - from;
  part.k += from * part.row, part.v += from * part.row;
  if (part.dk != nullptr) part.dk += from * part.row, part.dv += from * part.row;
  return part;
}

// What of the keys any of the queries [query, query + rows) sees, documents aside; no rows where that is
// none. The start moves by whole blocks, so that blocks stay the same ones.
template <class T>
KeyPart<T> seen_by(const KeyPart<T>& part, int64_t query, int64_t rows, int64_t window) {
  const int64_t end = std::clamp<int64_t>(query + rows - part.begin, 0, part.rows);
  const int64_t below = window > 0 ? std::max<int64_t>(0, query - window + 1 - part.begin) : 0;
  const int64_t from = below / kFlashBlock * kFlashBlock;
  return below >= end ? slice(part, 0, 0) : slice(part, from, end);
}

// The rank's side of a call.
template <class T>
struct BlockCall {
  AttentionLayout l;
  FlashKernels<T> kernels;
  int threads = 1;
  std::vector<QueryPart> queries;

  BlockCall(const OpSig& sig, const CpuContext& context)
      : l(sig, unpack_attrs<AttentionAttrs>(sig.attrs)),
        kernels(choose_kernels<T>(context.isa)),
        threads(context.threads) {
    const ContextSizes s(sig);
    int64_t at = 0;
    for (const RowRange& rows : context_rows(s.n * s.T, s.n, s.a.at.rank, ContextRows::zigzag)) {
      queries.push_back({rows.begin, rows.count, at});
      at += rows.count;
    }
  }

  int64_t pairs() const { return l.B * l.a.kv_heads; }

  // The rank's q against `keys` for one pair of a sequence and a key head.
  FlashInputs<T> inputs(const T* qkv, const int32_t* doc_start, int64_t pair, const QueryPart& q,
                        const KeyPart<T>& keys) const {
    FlashInputs<T> in = l.inputs(qkv, doc_start, pair);
    in.q += q.at * l.W;
    in.k = keys.k + key_at(keys.sequence, pair), in.v = keys.v + key_at(keys.sequence, pair);
    in.kv_row = keys.row;
    in.mask.query_rows = q.rows, in.mask.key_rows = keys.rows;
    in.mask.offset = q.begin - keys.begin, in.mask.first_key = keys.begin;
    if (doc_start != nullptr) in.mask.doc_start += q.at;
    return in;
  }
  int64_t key_at(int64_t sequence_stride, int64_t pair) const {
    return l.sequence(pair) * sequence_stride + pair % l.a.kv_heads * l.D;
  }
  int64_t y_at(int64_t pair, const QueryPart& q) const { return l.y_at(pair) + q.at * l.a.heads * l.D; }
  int64_t lse_at(int64_t pair, const QueryPart& q) const { return pair * l.group * l.T + q.at; }
};

template <class T>
struct BlockForward {
  const T* qkv = nullptr;
  const int32_t* doc_start = nullptr;
  T* y = nullptr;  // where one piece has all keys; else
  float* y_sum = nullptr;
  float* lse = nullptr;
  std::byte* slots = nullptr;
  int64_t slot_bytes = 0;
};

template <class T>
void attend_blocks(const BlockCall<T>& call, const std::vector<KeyPart<T>>& keys, const BlockForward<T>& f) {
  const AttentionLayout& l = call.l;
  const auto pieces = static_cast<int64_t>(call.queries.size());
  const int64_t parts = parts_for(call.pairs() * pieces, call.queries[0].rows, call.threads);
  run_tasks(call.threads, call.pairs() * pieces * parts, [&](int64_t i, int64_t slot) {
    const int64_t pair = i / (pieces * parts), part = i % parts;
    const QueryPart& q = call.queries[static_cast<size_t>(i / parts % pieces)];
    for (const KeyPart<T>& piece : keys) {
      const KeyPart<T> seen = seen_by(piece, q.begin, q.rows, l.a.window);
      if (seen.rows == 0) continue;
      FlashForward<T> task{.in = call.inputs(f.qkv, f.doc_start, pair, q, seen)};
      if (f.y != nullptr) task.y = f.y + call.y_at(pair, q);
      if (f.y_sum != nullptr) task.y_sum = f.y_sum + call.y_at(pair, q);
      task.y_row = l.a.heads * l.D, task.y_head = l.D;
      task.lse = f.lse + call.lse_at(pair, q), task.lse_head = l.T;
      task.query_begin = cut(q.rows, part, parts), task.query_end = cut(q.rows, part + 1, parts);
      call.kernels.forward(task, f.slots + slot * f.slot_bytes);
    }
  });
}

template <class T>
struct BlockBackward {
  const T *qkv = nullptr, *y = nullptr, *dy = nullptr;
  const float* lse = nullptr;
  const int32_t* doc_start = nullptr;
  T* dqkv = nullptr;    // where one piece has all keys: dq goes there; else
  float* dq = nullptr;  // sums, [B,T/n,H*D]
  std::byte* slots = nullptr;
  int64_t slot_bytes = 0;
};

// Adds these keys' part to dq, and the rank's queries' part to the keys' dk and dv. As in plain attention,
// few pairs for many threads have their keys and queries cut apart.
template <class T>
void differentiate_blocks(const BlockCall<T>& call, const std::vector<KeyPart<T>>& keys,
                          const BlockBackward<T>& f) {
  const AttentionLayout& l = call.l;
  const int64_t parts = parts_for(call.pairs(), call.queries[0].rows, call.threads),
                kinds = parts > 1 ? 2 : 1;
  run_tasks(call.threads, call.pairs() * parts * kinds, [&](int64_t i, int64_t slot) {
    const int64_t pair = i / (parts * kinds), part = i / kinds % parts;
    const bool for_keys = kinds == 1 || i % kinds == 0, for_queries = kinds == 1 || i % kinds == 1;
    for (const KeyPart<T>& whole : keys) {
      const KeyPart<T> piece =
          for_queries ? whole : slice(whole, cut(whole.rows, part, parts), cut(whole.rows, part + 1, parts));
      for (const QueryPart& q : call.queries) {
        const KeyPart<T> seen = seen_by(piece, q.begin, q.rows, l.a.window);
        if (seen.rows == 0) continue;
        FlashBackward<T> task{.in = call.inputs(f.qkv, f.doc_start, pair, q, seen)};
        task.y = f.y + call.y_at(pair, q), task.dy = f.dy + call.y_at(pair, q);
        task.y_row = l.a.heads * l.D, task.y_head = l.D;
        task.lse = f.lse + call.lse_at(pair, q), task.lse_head = l.T;
        task.sums.q_row = l.a.heads * l.D, task.sums.q_head = l.D, task.sums.kv_row = seen.row;
        if (for_queries && f.dq != nullptr) task.sums.dq = f.dq + call.y_at(pair, q);
        if (for_queries && f.dqkv != nullptr) task.dq = f.dqkv + l.q_at(pair) + q.at * l.W;
        if (for_keys) {
          const int64_t at = call.key_at(seen.sum_sequence, pair);
          task.sums.dk = seen.dk + at, task.sums.dv = seen.dv + at;
        }
        task.key_end = seen.rows, task.query_end = q.rows;
        if (!for_keys)
          task.query_begin = cut(q.rows, part, parts), task.query_end = cut(q.rows, part + 1, parts);
        call.kernels.backward(task, f.slots + slot * f.slot_bytes);
      }
    }
  });
}

// The rank's keys and values out of its qkv: [B,T/n,2KD].
template <class T>
void copy_keys(const BlockCall<T>& call, const T* qkv, T* kv) {
  const AttentionLayout& l = call.l;
  const int64_t width = l.W - l.a.heads * l.D;
  parallel_for(call.threads, l.B * l.T, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(qkv + i * l.W + l.a.heads * l.D, width, kv + i * width);
  });
}

// `sums` as T. Rounding is that of every other kernel's output: to nearest.
template <class T>
void narrow_rows(const float* sums, int64_t width, T* to) {
  for (int64_t i = 0; i < width; ++i) to[i] = from_float<T>(sums[i]);
}

// Keys and values side by side: rows of 2KD at `kv`, each sequence `length` rows behind the one before. Their
// sums lie likewise at `dkv`; null in forward.
template <class T>
KeyPart<T> key_part(const ContextSizes& s, const RowRange& rows, int64_t length, const T* kv, float* dkv) {
  const int64_t row = s.kv_row(), half = row / 2;
  return {.begin = rows.begin,
          .rows = rows.count,
          .k = kv,
          .v = kv + half,
          .row = row,
          .sequence = length * row,
          .dk = dkv,
          .dv = dkv != nullptr ? dkv + half : nullptr,
          .sum_sequence = length * row};
}

// A rank's keys, which lie as [B,T/n,2KD], as pieces of the sequence.
template <class T>
std::vector<KeyPart<T>> pieces_of(const ContextSizes& s, int64_t owner, const T* kv, float* dkv) {
  std::vector<KeyPart<T>> pieces;
  for (const RowRange& rows : context_rows(s.n * s.T, s.n, owner, ContextRows::zigzag)) {
    pieces.push_back(key_part(s, rows, s.T, kv, dkv));
    kv += rows.count * s.kv_row();
    if (dkv != nullptr) dkv += rows.count * s.kv_row();
  }
  return pieces;
}

}  // namespace trireme
