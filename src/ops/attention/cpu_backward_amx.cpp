// Flash attention backward in bf16 on AMX tiles (FlashAttention-2, algorithm 2). Weights and their gradients
// are made transposed, [keys, queries], and packed twice: by rows as left factor of the sums dV and dK,
// interleaved as right factor of dQ^T = K^T dS^T.
#include "ops/attention/amx_scores.h"
#include "ops/attention/flash_amx.h"

namespace trireme {
namespace {

float dot(const bf16* x, const bf16* y, int64_t n) {
  __m512 sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < n; i += 16) {
    const auto lanes = static_cast<__mmask16>(n - i >= 16 ? 0xffffu : (1u << (n - i)) - 1u);
    const auto widen = [&](const bf16* p) {
      const __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, p + i));
      return (__m512)_mm512_slli_epi32(bits, 16);
    };
    sum = _mm512_fmadd_ps(widen(x), widen(y), sum);
  }
  return _mm512_reduce_add_ps(sum);
}

// lse in powers of two. Padding rows get one that leaves them no weight.
void fill_statistics(const FlashBackward<bf16>& task, int64_t head, const BackwardBuffers<Bits>& b) {
  for (int64_t i = task.query_begin; i < pad32(task.query_end); ++i) {
    b.lse[i] = -kNoTop, b.delta[i] = 0.0f;
    if (i >= task.query_end) continue;
    const int64_t at = i * task.y_row + head * task.y_head;
    for (int64_t d = 0; d < task.in.head_dim; d += 32) {
      ask_for(task.y + head * task.y_head + d, task.y_row, i, task.query_end);
      ask_for(task.dy + head * task.y_head + d, task.y_row, i, task.query_end);
    }
    b.lse[i] = task.lse[head * task.lse_head + i] * kLog2E;
    b.delta[i] = dot(task.y + at, task.dy + at, task.in.head_dim);
  }
}

struct Block {
  int64_t query = 0, queries = 0, key = 0, keys = 0;
};

// 32 queries at `q` of the block: scores and dweights to bf16 weights and dscores.
template <bool kMask, bool kCap>
void differentiate(const TileScoreRule& rule, const BackwardBuffers<Bits>& b, const BlockSpan& span,
                   const Block& block, int64_t q) {
  const __m512 factor = _mm512_set1_ps(rule.factor);
  __m512 lse[2], delta[2];
  Limits limit[2];
  for (int half = 0; half < 2; ++half) {
    lse[half] = _mm512_load_ps(b.lse + block.query + q + half * 16);
    delta[half] = _mm512_load_ps(b.delta + block.query + q + half * 16);
    limit[half] = limits(span, block.query % kQueryRows + q + half * 16);
  }
  const int64_t at = q * block.keys, next = 16 * block.keys;
  for (int64_t j = 0; j < block.keys; j += 2) {
    __m512i ds_rows[2];
#pragma GCC unroll 2
    for (int64_t i = 0; i < 2; ++i) {
      __m512 p[2], ds[2];
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const int64_t here = at + half * next + (j + i) * 16;
        __m512 s = _mm512_load_ps(b.scores + here);
        if (kCap) s = cap_dot(rule, s);
        p[half] = exp2_rough(_mm512_fmsub_ps(s, factor, lse[half]));
        if (kMask) p[half] = _mm512_maskz_mov_ps(visible_to(limit[half], block.key + j + i), p[half]);
        ds[half] = p[half] * (_mm512_load_ps(b.dweights + here) - delta[half]);
        if (kCap) ds[half] *= _mm512_fnmadd_ps(s, s, _mm512_set1_ps(1.0f));
      }
      const int64_t row = at + (j + i) * 32;
      ds_rows[i] = (__m512i)_mm512_cvtne2ps_pbh(ds[1], ds[0]);
      _mm512_store_si512(b.weights + row, (__m512i)_mm512_cvtne2ps_pbh(p[1], p[0]));
      _mm512_store_si512(b.dscores + row, ds_rows[i]);
    }
    __m512i low, high;
    interleave(ds_rows[0], ds_rows[1], low, high);
    _mm512_store_si512(b.dscores_columns + at + j * 16, low);
    _mm512_store_si512(b.dscores_columns + at + next + j * 16, high);
  }
}

void differentiate_block(const TileScoreRule& rule, const BackwardBuffers<Bits>& b, const BlockSpan& span,
                         const Block& block) {
  const bool masked = needs_mask(span, block.key, block.key + block.keys);
  for (int64_t q = 0; q < block.queries; q += 32)
    if (rule.cap != 0.0f)
      masked ? differentiate<true, true>(rule, b, span, block, q)
             : differentiate<false, true>(rule, b, span, block, q);
    else
      masked ? differentiate<true, false>(rule, b, span, block, q)
             : differentiate<false, false>(rule, b, span, block, q);
}

void backward_block(const FlashBackward<bf16>& task, const Block& block, const BackwardBuffers<Bits>& b) {
  const int64_t D = pad32(task.in.head_dim), deep = D / 32 * kTile, wide = D / 16 * kTile;
  const int64_t m = block.keys / 16, n = block.queries / 16;
  const int64_t keys = block.key * D, queries = block.query * D;
  multiply({b.scores, kTile, m * kTile}, {b.k + keys, deep, kTile}, {b.q_columns + queries, kTile, deep}, m,
           n, D / 32, false);
  multiply({b.dweights, kTile, m * kTile}, {b.v + keys, deep, kTile}, {b.dy_columns + queries, kTile, deep},
           m, n, D / 32, false);
  differentiate_block(tile_rule(task.in.scale, task.in.softcap), b, b.spans[block.query / kQueryRows], block);
  if (wants_keys(task)) {
    multiply({b.dv + keys, wide, kTile}, {b.weights, kTile, m * kTile}, {b.dy_rows + queries, wide, kTile}, m,
             D / 16, n / 2, true);
    multiply({b.dk + keys, wide, kTile}, {b.dscores, kTile, m * kTile}, {b.q_rows + queries, wide, kTile}, m,
             D / 16, n / 2, true);
  }
  if (wants_queries(task))
    multiply({b.dq + queries, kTile, wide}, {b.k_columns + keys, kTile, wide},
             {b.dscores_columns, kTile, m / 2 * kTile}, D / 16, n, m / 2, true);
}

void write_dq(const FlashBackward<bf16>& task, int64_t head, const BackwardBuffers<Bits>& b) {
  const int64_t D = pad32(task.in.head_dim);
  const __m512 scale = _mm512_set1_ps(task.in.scale);
  alignas(64) float whole[16];
  _mm512_store_ps(whole, _mm512_set1_ps(1.0f));
  for (int64_t i = task.query_begin; i < task.query_end; i += 16) {
    const int64_t rows = smaller(16, task.query_end - i);
    for (int64_t d = 0; d < task.in.head_dim; d += 32) {
      const float* tiles = b.dq + i * D + d * 16;
      const int64_t width = smaller(32, task.in.head_dim - d);
      if (task.sums.dq != nullptr)
        mix_transposed(
            tiles, scale, whole, rows,
            {task.sums.dq + i * task.sums.q_row + head * task.sums.q_head + d, task.sums.q_row, width});
      else
        write_transposed(tiles, scale, rows,
                         {task.dq + i * task.in.q_row + head * task.in.q_head + d, task.in.q_row, width});
    }
  }
}

// dk or dv: sums in tiles [16 keys, 16 dims].
void add_rows(const FlashBackward<bf16>& task, const float* sums, float factor, float* out) {
  const int64_t D = pad32(task.in.head_dim);
  const __m512 scale = _mm512_set1_ps(factor);
  for (int64_t j = task.key_begin; j < task.key_end; ++j)
    for (int64_t d = 0; d < task.in.head_dim; d += 16)
      mix_row(_mm512_load_ps(sums + j / 16 * 16 * D + d * 16 + j % 16 * 16) * scale, 1.0f,
              out + j * task.sums.kv_row + d, smaller(16, task.in.head_dim - d));
}

void write_rows(const FlashBackward<bf16>& task, const float* sums, float factor, bf16* out) {
  const int64_t D = pad32(task.in.head_dim);
  for (int64_t j = task.key_begin; j < task.key_end; ++j)
    for (int64_t d = 0; d < task.in.head_dim; d += 32) {
      const float* row = sums + j / 16 * 16 * D + d * 16 + j % 16 * 16;
      ask_for(out + d, task.in.kv_row, j, task.key_end);
      const __m512 low = _mm512_load_ps(row), high = _mm512_load_ps(row + kTileFloats);
      write_row(low * _mm512_set1_ps(factor), high * _mm512_set1_ps(factor),
                {out + d, task.in.kv_row, smaller(32, task.in.head_dim - d)}, j);
    }
}

void pack_queries(const FlashBackward<bf16>& task, int64_t head, const BackwardBuffers<Bits>& b) {
  const FlashInputs<bf16>& in = task.in;
  const int64_t D = pad32(in.head_dim), rows = task.query_end - task.query_begin, padded = pad32(rows);
  const int64_t from = task.query_begin * D;
  const SourceRows q{in.q + task.query_begin * in.q_row + head * in.q_head, in.q_row, rows, in.head_dim};
  const SourceRows dy{task.dy + task.query_begin * task.y_row + head * task.y_head, task.y_row, rows,
                      in.head_dim};
  pack_right_transposed(q, padded, D, b.q_columns + from);
  pack_right_transposed(dy, padded, D, b.dy_columns + from);
  pack_right(q, padded, D, b.q_rows + from);
  pack_right(dy, padded, D, b.dy_rows + from);
  clear(b.dq + from, padded * D);
  for (int64_t i = 0; i < padded; i += kQueryRows)
    fill_span(in.mask, task.query_begin + i, smaller(kQueryRows, padded - i),
              b.spans[(task.query_begin + i) / kQueryRows]);
}

void backward_head(const FlashBackward<bf16>& task, int64_t head, const BackwardBuffers<Bits>& b) {
  fill_statistics(task, head, b);
  pack_queries(task, head, b);
  for (int64_t key = task.key_begin; key < task.key_end; key += kBackwardKeys) {
    const int64_t keys = pad32(smaller(kBackwardKeys, task.key_end - key));
    for (int64_t query = task.query_begin; query < task.query_end; query += kBackwardQueries) {
      if (sees_none(b.spans[query / kQueryRows], key, key + keys)) continue;
      const int64_t queries = pad32(smaller(kBackwardQueries, task.query_end - query));
      backward_block(task, {query, queries, key, keys}, b);
    }
  }
  if (wants_queries(task)) write_dq(task, head, b);
}

}  // namespace

void flash_backward_amx(const FlashBackward<bf16>& task, void* scratch) {
  const FlashInputs<bf16>& in = task.in;
  const int64_t D = pad32(in.head_dim), rows = task.key_end - task.key_begin, padded = pad32(rows);
  BackwardBuffers<Bits> b;
  carve(b, scratch, in.mask.query_rows, in.mask.key_rows, in.head_dim);
  const int64_t from = task.key_begin * D;
  const SourceRows k{in.k + task.key_begin * in.kv_row, in.kv_row, rows, in.head_dim};
  const SourceRows v{in.v + task.key_begin * in.kv_row, in.kv_row, rows, in.head_dim};
  begin_tiles();
  pack_left(k, padded, D, b.k + from);
  pack_left(v, padded, D, b.v + from);
  pack_left_transposed(k, padded, D, b.k_columns + from);
  clear(b.dk + from, padded * D);
  clear(b.dv + from, padded * D);
  for (int64_t head = 0; head < in.group; ++head) backward_head(task, head, b);
  if (task.sums.dk != nullptr) {
    add_rows(task, b.dk, in.scale, task.sums.dk);
    add_rows(task, b.dv, 1.0f, task.sums.dv);
  } else if (task.dk != nullptr) {
    write_rows(task, b.dk, in.scale, task.dk);
    write_rows(task, b.dv, 1.0f, task.dv);
  }
  end_tiles();
}

}  // namespace trireme
