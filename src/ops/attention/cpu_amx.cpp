// Flash attention forward in bf16 on AMX tiles (FlashAttention-2, algorithm 1). A block of scores is made
// transposed, [keys, queries]: K comes as left factor without a transpose, a vector lane is a query, and the
// weights are packed for the product with V^T by one interleave.
//
// The reference maximum of a query only moves when a score exceeds it by more than 2^kSlack, so that sums are
// seldom rescaled: weights reach 2^kSlack, which costs no precision.
#include "ops/attention/amx_scores.h"
#include "ops/attention/amx_tiles.h"
#include "ops/attention/flash_amx.h"

namespace trireme {
namespace {

inline constexpr float kSlack = 8.0f;

// Sixteen queries of a block: their column of scores (a row of 16 per key), weights (a tile per 32 keys) and
// output (a row of 16 per head dim).
struct Column {
  float* scores = nullptr;
  Bits* weights = nullptr;
  float *out = nullptr, *top = nullptr, *sum = nullptr;
  int64_t keys = 0, D = 0;
};

template <bool kMask, bool kCap>
[[gnu::always_inline]] inline __m512 highest(const TileScoreRule& rule, const Column& c, const Limits& limit,
                                             int64_t key_begin) {
  __m512 top[4];
  for (__m512& t : top) t = _mm512_set1_ps(-__builtin_inff());
  for (int64_t j = 0; j < c.keys; j += 4)
#pragma GCC unroll 4
    for (int64_t i = 0; i < 4; ++i) {
      __m512 s = _mm512_load_ps(c.scores + (j + i) * 16);
      if (kCap) _mm512_store_ps(c.scores + (j + i) * 16, s = cap_dot(rule, s));
      const __mmask16 seen = kMask ? visible_to(limit, key_begin + j + i) : __mmask16{0xffff};
      top[i] = _mm512_mask_max_ps(top[i], seen, top[i], s);
    }
  return _mm512_max_ps(_mm512_max_ps(top[0], top[1]), _mm512_max_ps(top[2], top[3]));
}

// Moves the reference up to `top` where any lane needs it, with what has been summed so far.
[[gnu::always_inline]] inline __m512 raise(const Column& c, __m512 top) {
  const __m512 old_top = _mm512_load_ps(c.top);
  if (_mm512_cmp_ps_mask(top, old_top + _mm512_set1_ps(kSlack), _CMP_GT_OQ) == 0) return old_top;
  top = _mm512_max_ps(top, old_top);
  const __m512 fade = exp2_rough(old_top - top);
  _mm512_store_ps(c.sum, _mm512_load_ps(c.sum) * fade);
  _mm512_store_ps(c.top, top);
  for (int64_t d = 0; d < c.D; ++d) _mm512_store_ps(c.out + d * 16, _mm512_load_ps(c.out + d * 16) * fade);
  return top;
}

template <bool kMask, bool kCap>
void soften(const TileScoreRule& rule, const Column& c, const Limits& limit, int64_t key_begin) {
  const __m512 factor = _mm512_set1_ps(rule.factor);
  const __m512 top = raise(c, highest<kMask, kCap>(rule, c, limit, key_begin) * factor);
  __m512 sum[4] = {_mm512_load_ps(c.sum), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int64_t j = 0; j < c.keys; j += 4) {
    __m512 p[4];
#pragma GCC unroll 4
    for (int64_t i = 0; i < 4; ++i) {
      p[i] = exp2_rough(_mm512_fmsub_ps(_mm512_load_ps(c.scores + (j + i) * 16), factor, top));
      if (kMask) p[i] = _mm512_maskz_mov_ps(visible_to(limit, key_begin + j + i), p[i]);
      sum[i] += p[i];
    }
    _mm512_store_si512(c.weights + j * 16, pair_rows(p[0], p[1]));
    _mm512_store_si512(c.weights + j * 16 + 32, pair_rows(p[2], p[3]));
  }
  _mm512_store_ps(c.sum, (sum[0] + sum[1]) + (sum[2] + sum[3]));
}

struct Part {  // queries of a block
  int64_t head = 0, begin = 0, queries = 0;
};

void soften_block(const TileScoreRule& rule, const ForwardBuffers<Bits>& b, int64_t queries, int64_t key,
                  int64_t keys, int64_t D) {
  const bool masked = needs_mask(*b.span, key, key + keys);
  for (int64_t q = 0; q < queries; q += 16) {
    const Column c{b.scores + q * keys, b.weights + q * keys, b.out + q * D, b.top + q, b.sum + q, keys, D};
    const Limits limit = limits(*b.span, q);
    if (rule.cap != 0.0f)
      masked ? soften<true, true>(rule, c, limit, key) : soften<false, true>(rule, c, limit, key);
    else
      masked ? soften<true, false>(rule, c, limit, key) : soften<false, false>(rule, c, limit, key);
  }
}

// Per query: what its earlier keys gave counts `keep`, what these give counts `part`.
struct Mix {
  __m512 keep, part;
};

// Moves the log-sum-exps at `to` on by those of these keys.
Mix mix(float* to, __mmask16 lanes, __m512 lse) {
  const __m512 nothing = _mm512_set1_ps(-__builtin_inff());
  const __m512 old = _mm512_mask_loadu_ps(nothing, lanes, to);
  const __m512 top = _mm512_max_ps(old, lse);
  const __mmask16 some = _mm512_cmp_ps_mask(top, nothing, _CMP_NEQ_UQ);
  simd::F32x16 below_old, below_new;
  below_old.part[0] = old - top, below_new.part[0] = lse - top;
  const __m512 keep = simd::exp(below_old).part[0], part = simd::exp(below_new).part[0], sum = keep + part;
  _mm512_mask_storeu_ps(to, lanes, _mm512_mask_add_ps(nothing, some, top, log_rough(sum)));
  return {_mm512_maskz_div_ps(some, keep, sum), _mm512_maskz_div_ps(some, part, sum)};
}

void mix_out(const FlashForward<bf16>& task, const Part& part, const ForwardBuffers<Bits>& b, int64_t q,
             int64_t rows, __m512 inverse, const Mix& mix) {
  alignas(64) float keep[16];
  _mm512_store_ps(keep, mix.keep);
  float* y = task.y_sum + (part.begin + q) * task.y_row + part.head * task.y_head;
  for (int64_t d = 0; d < task.in.head_dim; d += 32)
    mix_transposed(b.out + q * pad32(task.in.head_dim) + d * 16, inverse * mix.part, keep, rows,
                   {y + d, task.y_row, smaller(32, task.in.head_dim - d)});
}

void write_out(const FlashForward<bf16>& task, const Part& part, const ForwardBuffers<Bits>& b) {
  const int64_t D = pad32(task.in.head_dim), end = smaller(part.queries, task.query_end - part.begin);
  for (int64_t q = 0; q < end; q += 16) {
    const __m512 sum = _mm512_load_ps(b.sum + q);
    const __mmask16 seen = _mm512_cmp_ps_mask(sum, _mm512_setzero_ps(), _CMP_NLE_UQ);  // NaN stays
    const __m512 inverse = _mm512_maskz_div_ps(seen, _mm512_set1_ps(1.0f), sum);
    const __m512 lse = _mm512_fmadd_ps(_mm512_load_ps(b.top + q), _mm512_set1_ps(kLn2), log_rough(sum));
    const __m512 nothing = _mm512_set1_ps(-__builtin_inff());
    const int64_t rows = smaller(16, end - q);
    const auto lanes = static_cast<__mmask16>((1u << rows) - 1u);
    float* to = task.lse != nullptr ? task.lse + part.head * task.lse_head + part.begin + q : nullptr;
    if (task.y_sum != nullptr) {
      mix_out(task, part, b, q, rows, inverse, mix(to, lanes, _mm512_mask_mov_ps(nothing, seen, lse)));
      continue;
    }
    if (to != nullptr) _mm512_mask_storeu_ps(to, lanes, _mm512_mask_mov_ps(nothing, seen, lse));
    bf16* y = task.y + (part.begin + q) * task.y_row + part.head * task.y_head;
    for (int64_t d = 0; d < task.in.head_dim; d += 32)
      write_transposed(b.out + q * D + d * 16, inverse, rows,
                       {y + d, task.y_row, smaller(32, task.in.head_dim - d)});
  }
}

// Keys are packed when a block of queries first needs them, and what the next block needs is asked for: rows
// of a fused projection lie pages apart, and come while the tiles are busy.
void pack_keys(const FlashInputs<bf16>& in, const ForwardBuffers<Bits>& b, int64_t key_end, int64_t& packed) {
  if (key_end <= packed) return;
  const int64_t D = pad32(in.head_dim), rows = in.mask.key_rows - packed, fresh = key_end - packed;
  pack_left({in.k + packed * in.kv_row, in.kv_row, rows, in.head_dim}, fresh, D, b.k + packed * D);
  pack_left_transposed({in.v + packed * in.kv_row, in.kv_row, rows, in.head_dim}, fresh, D, b.v + packed * D);
  packed = key_end;
  for (int64_t j = key_end; j < smaller(key_end + kForwardQueries, in.mask.key_rows); ++j)
    for (int64_t d = 0; d < in.head_dim; d += 32) {
      __builtin_prefetch(in.k + j * in.kv_row + d);
      __builtin_prefetch(in.v + j * in.kv_row + d);
    }
}

void ask_for_queries(const FlashForward<bf16>& task, const Part& part) {
  const FlashInputs<bf16>& in = task.in;
  const int64_t next = part.begin + part.queries;
  for (int64_t i = next; i < smaller(next + kForwardQueries, task.query_end); ++i)
    for (int64_t d = 0; d < in.head_dim; d += 32) {
      const int64_t y = (i - part.queries) * task.y_row + part.head * task.y_head + d;
      __builtin_prefetch(in.q + i * in.q_row + part.head * in.q_head + d);
      if (task.y_sum == nullptr)
        __builtin_prefetch(task.y + y, 1);
      else
        __builtin_prefetch(task.y_sum + y, 1), __builtin_prefetch(task.y_sum + y + 16, 1);
    }
}

void forward_part(const FlashForward<bf16>& task, const Part& part, const ForwardBuffers<Bits>& b,
                  int64_t& packed) {
  const FlashInputs<bf16>& in = task.in;
  const int64_t D = pad32(in.head_dim), queries = part.queries;
  pack_right_transposed({in.q + part.begin * in.q_row + part.head * in.q_head, in.q_row,
                         smaller(queries, task.query_end - part.begin), in.head_dim},
                        queries, D, b.q);
  for (int64_t q = 0; q < queries; q += 16) {
    _mm512_store_ps(b.top + q, _mm512_set1_ps(kNoTop));
    _mm512_store_ps(b.sum + q, _mm512_setzero_ps());
  }
  fill_span(in.mask, part.begin, queries, *b.span);
  const int64_t key_end = pad32(smaller(in.mask.key_rows, int64_t{b.span->highest_last} + 1));
  const TileScoreRule rule = tile_rule(in.scale, in.softcap);
  pack_keys(in, b, key_end, packed);
  ask_for_queries(task, part);
  bool onto = false;
  for (int64_t key = b.span->lowest_first / kForwardKeys * kForwardKeys; key < key_end; key += kForwardKeys) {
    const int64_t keys = smaller(kForwardKeys, key_end - key);
    const int64_t key_tiles = keys / 16, query_tiles = queries / 16;
    multiply({b.scores, kTile, key_tiles * kTile}, {b.k + key * D, D / 32 * kTile, kTile},
             {b.q, kTile, D / 32 * kTile}, key_tiles, query_tiles, D / 32, false);
    soften_block(rule, b, queries, key, keys, D);
    multiply({b.out, kTile, D / 16 * kTile}, {b.v + key * D, kTile, D / 16 * kTile},
             {b.weights, kTile, key_tiles / 2 * kTile}, D / 16, query_tiles, key_tiles / 2, onto);
    onto = true;
  }
  if (!onto) clear(b.out, queries * D);
  write_out(task, part, b);
}

void forward_task(const FlashForward<bf16>& task, void* scratch) {
  const FlashInputs<bf16>& in = task.in;
  ForwardBuffers<Bits> b;
  carve(b, scratch, in.mask.key_rows, in.head_dim);
  int64_t packed = 0;
  begin_tiles();
  for (int64_t head = 0; head < in.group; ++head)
    for (int64_t begin = task.query_begin; begin < task.query_end; begin += kForwardQueries)
      forward_part(task, {head, begin, pad32(smaller(kForwardQueries, task.query_end - begin))}, b, packed);
  end_tiles();
}

}  // namespace

FlashKernels<bf16> flash_bf16_amx() { return {forward_task, flash_backward_amx, flash_bf16_avx512().decode}; }

}  // namespace trireme
