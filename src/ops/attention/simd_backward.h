// Flash attention backward in f32 vectors (FlashAttention-2, algorithm 2): weights are made again block by
// block from the log-sum-exp. As in simd_forward.h, a block is [keys, queries].
#pragma once
#include "ops/attention/simd_forward.h"

namespace trireme {
namespace {

// delta = rowsum(dy * y); padding rows get a log-sum-exp that leaves them no weight.
template <class T>
void fill_statistics(const FlashBackward<T>& task, int64_t head, const BackwardBuffers<float>& b) {
  for (int64_t i = task.query_begin; i < pad32(task.query_end); ++i) {
    b.lse[i] = -kMasked, b.delta[i] = 0.0f;
    if (i >= task.query_end) continue;
    const int64_t at = i * task.y_row + head * task.y_head;
    simd::F32x16 sum = simd::zero();
    for (int64_t d = 0; d < task.in.head_dim; d += simd::kLanes) {
      const int64_t left = task.in.head_dim - d;
      ask_for(task.y + head * task.y_head + d, task.y_row, i, task.query_end);
      ask_for(task.dy + head * task.y_head + d, task.y_row, i, task.query_end);
      sum = simd::fma(simd::load(task.y + at + d, left), simd::load(task.dy + at + d, left), sum);
    }
    b.lse[i] = task.lse[head * task.lse_head + i];
    b.delta[i] = simd::sum(sum);
  }
}

// One block of queries at `query`, one of keys at `key`.
struct Block {
  int64_t query = 0, queries = 0, key = 0, keys = 0;
};

// scores and dweights become the weights and the gradients of q.k / scale.
void differentiate(const ScoreRule& rule, const BackwardBuffers<float>& b, const BlockSpan& span,
                   const Block& block) {
  const bool masked = needs_mask(span, block.key, block.key + block.keys);
  for (int64_t q = 0; q < block.queries; q += simd::kLanes) {
    const simd::F32x16 lse = simd::load(b.lse + block.query + q),
                       delta = simd::load(b.delta + block.query + q);
    for (int64_t j = 0; j < block.keys; ++j) {
      float *s = b.scores + j * block.queries + q, *dw = b.dweights + j * block.queries + q;
      const simd::F32x16 score = cap_score(rule, simd::load(s));
      simd::F32x16 weight = simd::exp(score - lse);
      if (masked) weight = simd::select(visible(span, q, block.key + j), weight, simd::zero());
      simd::F32x16 ds = weight * (simd::load(dw) - delta);
      if (rule.softcap != 0.0f) {
        const simd::F32x16 t = score * simd::splat(1.0f / rule.softcap);
        ds *= simd::splat(1.0f) - t * t;
      }
      simd::store(s, weight);
      simd::store(dw, ds);
    }
  }
}

template <class T>
void backward_block(const FlashBackward<T>& task, const Block& block, const BackwardBuffers<float>& b) {
  const int64_t D = pad32(task.in.head_dim), n = block.queries;
  // Transposed queries lie in blocks of their own, [D][queries] each.
  const Rows q{b.q_columns + block.query * D, n}, dy{b.dy_columns + block.query * D, n};
  product({b.k + block.key * D, D, 1}, q, {b.scores, n}, block.keys, n, D, Sum::fresh);
  product({b.v + block.key * D, D, 1}, dy, {b.dweights, n}, block.keys, n, D, Sum::fresh);
  differentiate({task.in.scale, task.in.softcap}, b, b.spans[block.query / kQueryRows], block);
  if (wants_keys(task)) {
    product({b.scores, n, 1}, {b.dy_rows + block.query * D, D}, {b.dv + block.key * D, D}, block.keys, D, n,
            Sum::onto);
    product({b.dweights, n, 1}, {b.q_rows + block.query * D, D}, {b.dk + block.key * D, D}, block.keys, D, n,
            Sum::onto);
  }
  if (wants_queries(task))
    product({b.k + block.key * D, 1, D}, {b.dweights, n}, {b.dq + block.query * D, n}, D, n, block.keys,
            Sum::onto);
}

// dq lies transposed, block by block.
template <class T>
void write_dq(const FlashBackward<T>& task, int64_t head, const BackwardBuffers<float>& b) {
  const int64_t D = pad32(task.in.head_dim);
  for (int64_t i = task.query_begin; i < task.query_end; ++i) {
    const int64_t begin = i / kQueryRows * kQueryRows;
    const int64_t n = pad32(smaller(kQueryRows, task.query_end - begin));
    const float* column = b.dq + begin * D + i - begin;
    if (task.sums.dq != nullptr)
      mix_column(column, n, task.in.head_dim, task.in.scale, 1.0f,
                 task.sums.dq + i * task.sums.q_row + head * task.sums.q_head);
    else
      narrow_column(column, n, task.in.head_dim, task.in.scale,
                    task.dq + i * task.in.q_row + head * task.in.q_head);
  }
}

template <class T>
void write_dkv(const FlashBackward<T>& task, const BackwardBuffers<float>& b) {
  const int64_t D = pad32(task.in.head_dim);
  for (int64_t j = task.key_begin; j < task.key_end; ++j) {
    if (task.sums.dk != nullptr) {
      add_row(b.dk + j * D, task.in.head_dim, task.in.scale, task.sums.dk + j * task.sums.kv_row);
      add_row(b.dv + j * D, task.in.head_dim, 1.0f, task.sums.dv + j * task.sums.kv_row);
      continue;
    }
    for (int64_t d = 0; d < task.in.head_dim; d += simd::kLanes) {
      ask_for(task.dk + d, task.in.kv_row, j, task.key_end);
      ask_for(task.dv + d, task.in.kv_row, j, task.key_end);
    }
    narrow_row(b.dk + j * D, task.in.head_dim, task.in.scale, task.dk + j * task.in.kv_row);
    narrow_row(b.dv + j * D, task.in.head_dim, 1.0f, task.dv + j * task.in.kv_row);
  }
}

void clear(float* x, int64_t n) {
  for (int64_t i = 0; i < n; i += simd::kLanes) simd::store(x + i, simd::zero());
}

template <class T>
void backward_head(const FlashBackward<T>& task, int64_t head, const BackwardBuffers<float>& b) {
  const FlashInputs<T>& in = task.in;
  const int64_t D = pad32(in.head_dim);
  fill_statistics(task, head, b);
  for (int64_t query = task.query_begin; query < task.query_end; query += kQueryRows) {
    const int64_t rows = smaller(kQueryRows, task.query_end - query), padded = pad32(rows);
    const T *q = in.q + query * in.q_row + head * in.q_head,
            *dy = task.dy + query * task.y_row + head * task.y_head;
    widen_rows(q, in.q_row, in.head_dim, rows, padded, D, b.q_rows + query * D);
    widen_rows(dy, task.y_row, in.head_dim, rows, padded, D, b.dy_rows + query * D);
    widen_columns(q, in.q_row, in.head_dim, rows, padded, D, b.q_columns + query * D);
    widen_columns(dy, task.y_row, in.head_dim, rows, padded, D, b.dy_columns + query * D);
    fill_span(in.mask, query, padded, b.spans[query / kQueryRows]);
    clear(b.dq + query * D, padded * D);
  }
  for (int64_t key = task.key_begin; key < task.key_end; key += kKeyRows) {
    const int64_t keys = smaller(kKeyRows, task.key_end - key);
    for (int64_t query = task.query_begin; query < task.query_end; query += kQueryRows) {
      if (sees_none(b.spans[query / kQueryRows], key, key + keys)) continue;
      const int64_t queries = pad32(smaller(kQueryRows, task.query_end - query));
      backward_block(task, {query, queries, key, keys}, b);
    }
  }
  if (wants_queries(task)) write_dq(task, head, b);
}

template <class T>
void backward_task(const FlashBackward<T>& task, void* scratch) {
  const FlashInputs<T>& in = task.in;
  const int64_t D = pad32(in.head_dim), keys = task.key_end - task.key_begin;
  BackwardBuffers<float> b;
  carve(b, scratch, in.mask.query_rows, in.mask.key_rows, in.head_dim);
  const int64_t from = task.key_begin;
  widen_rows(in.k + from * in.kv_row, in.kv_row, in.head_dim, keys, keys, D, b.k + from * D);
  widen_rows(in.v + from * in.kv_row, in.kv_row, in.head_dim, keys, keys, D, b.v + from * D);
  clear(b.dk + from * D, keys * D);
  clear(b.dv + from * D, keys * D);
  for (int64_t head = 0; head < in.group; ++head) backward_head(task, head, b);
  if (wants_keys(task)) write_dkv(task, b);
}

}  // namespace
}  // namespace trireme
