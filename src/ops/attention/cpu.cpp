// The CPU kernels of attention, attention_grad and cached_attention.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/attention/attention.h"
#include "ops/attention/flash_task.h"

namespace trireme {
namespace {

// Runs task(i, slot) for i in [0, n); no two tasks with one slot run at once, so a slot owns scratch.
template <class Task>
void run_tasks(int threads, int64_t n, const Task& task) {
  std::atomic<int64_t> next{0};
  parallel_for(threads, std::min<int64_t>(threads, n), 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t i = next++; i < n; i = next++) task(i, slot);
  });
}

struct Problem {
  AttentionAttrs a;
  float scale = 1.0f;
  int64_t first_key(int64_t t, const int32_t* doc_start) const {
    return std::max<int64_t>(
        {0, doc_start != nullptr ? doc_start[t] : 0, a.window > 0 ? t - a.window + 1 : 0});
  }
};

template <class T>
float dot(const T* x, const T* y, int64_t n) {
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) sum += to_float(x[i]) * to_float(y[i]);
  return sum;
}

template <class T>
float score(const Problem& p, const T* q, const T* k, float* slope) {
  const float x = dot(q, k, p.a.head_dim) * p.scale, cap = static_cast<float>(p.a.softcap);
  *slope = 1.0f;
  if (cap == 0.0f) return x;
  const float t = std::tanh(x / cap);
  *slope = 1.0f - t * t;
  return cap * t;
}

template <class T>
float attend(const Problem& p, const T* q, const T* k, const T* v, int64_t stride, int64_t first,
             int64_t last, float* weights, T* y) {
  float top = -INFINITY, sum = 0.0f, slope = 0.0f;
  for (int64_t s = first; s <= last; ++s) {
    weights[s] = score(p, q, k + s * stride, &slope);
    top = std::max(top, weights[s]);
  }
  for (int64_t s = first; s <= last; ++s) sum += weights[s] = std::exp(weights[s] - top);
  for (int64_t d = 0; d < p.a.head_dim; ++d) {
    float out = 0.0f;
    for (int64_t s = first; s <= last; ++s) out += weights[s] * to_float(v[s * stride + d]);
    y[d] = from_float<T>(out / sum);
  }
  return top + std::log(sum);
}

template <class T>
FlashKernels<T> choose(CpuIsa isa);
template <>
FlashKernels<float> choose(CpuIsa isa) {
  if (isa >= CpuIsa::avx512) return flash_f32_avx512();
  return isa == CpuIsa::avx2 ? flash_f32_avx2() : flash_f32_baseline();
}
template <>
FlashKernels<bf16> choose(CpuIsa isa) {
  if (isa == CpuIsa::amx) return flash_bf16_amx();
  if (isa >= CpuIsa::avx512) return flash_bf16_avx512();
  return isa == CpuIsa::avx2 ? flash_bf16_avx2() : flash_bf16_baseline();
}

// The sizes of one call.
struct Layout {
  AttentionAttrs a;
  int64_t B = 0, T = 0, W = 0, D = 0, group = 0;
  explicit Layout(const OpSig& sig) : a(unpack_attrs<AttentionAttrs>(sig.attrs)) {
    B = sig.inputs[0].shape[0], T = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
    group = a.heads / a.kv_heads;
  }
  // Key head `pair % K` of sequence `pair / K`, with its query heads.
  int64_t sequence(int64_t pair) const { return pair / a.kv_heads; }
  int64_t q_at(int64_t pair) const { return sequence(pair) * T * W + pair % a.kv_heads * group * D; }
  int64_t k_at(int64_t pair) const { return sequence(pair) * T * W + (a.heads + pair % a.kv_heads) * D; }
  int64_t v_at(int64_t pair) const { return k_at(pair) + a.kv_heads * D; }
  int64_t y_at(int64_t pair) const {
    return (sequence(pair) * T * a.kv_heads + pair % a.kv_heads) * group * D;
  }

  template <class E>
  FlashInputs<E> inputs(const E* qkv, const int32_t* doc_start, int64_t pair) const {
    return {.q = qkv + q_at(pair),
            .k = qkv + k_at(pair),
            .v = qkv + v_at(pair),
            .q_row = W,
            .q_head = D,
            .kv_row = W,
            .group = group,
            .head_dim = D,
            .scale = static_cast<float>(score_scale(a)),
            .softcap = static_cast<float>(a.softcap),
            .mask = {.query_rows = T,
                     .key_rows = T,
                     .window = a.window,
                     .doc_start = doc_start != nullptr ? doc_start + sequence(pair) * T : nullptr}};
  }
};

// Where part `part` of `parts` begins when T rows are cut at multiples of kFlashBlock.
int64_t cut(int64_t rows, int64_t part, int64_t parts) {
  const int64_t blocks = (rows + kFlashBlock - 1) / kFlashBlock;
  return std::min(rows, blocks * part / parts * kFlashBlock);
}

// How many parts make enough tasks for the threads. Causal parts differ in cost, so more parts than needed.
int64_t parts_for(const Layout& l, int threads) {
  const int64_t pairs = l.B * l.a.kv_heads, blocks = (l.T + kFlashBlock - 1) / kFlashBlock;
  if (pairs >= threads) return 1;
  return std::clamp<int64_t>(4 * threads / pairs, 1, blocks);
}

template <class T>
CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const Layout l(sig);
  const FlashKernels<T> kernels = choose<T>(context.isa);
  const int64_t parts = parts_for(l, context.threads);
  const int64_t slot_bytes = flash_forward_slot_bytes(l.T, l.T, l.D);
  return [=, threads = context.threads](const Operands& o) {
    run_tasks(threads, l.B * l.a.kv_heads * parts, [&](int64_t i, int64_t slot) {
      const int64_t pair = i / parts, part = i % parts;
      FlashForward<T> task{.in = l.inputs(o.in<T>(0), o.in<int32_t>(1), pair)};
      task.y = o.out<T>(0) + l.y_at(pair), task.y_row = l.a.heads * l.D, task.y_head = l.D;
      task.lse = o.out<float>(1) + pair * l.group * l.T, task.lse_head = l.T;
      task.query_begin = cut(l.T, part, parts), task.query_end = cut(l.T, part + 1, parts);
      kernels.forward(task, o.scratch + slot * slot_bytes);
    });
  };
}

// With few key heads for many threads, keys (for dk, dv) and queries (for dq) are cut apart: seven products
// instead of five, each sum still in the same order.
template <class T>
CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const Layout l(sig);
  const FlashKernels<T> kernels = choose<T>(context.isa);
  const int64_t parts = parts_for(l, context.threads), kinds = parts > 1 ? 2 : 1;
  const int64_t slot_bytes = flash_backward_slot_bytes(l.T, l.T, l.D);
  return [=, threads = context.threads](const Operands& o) {
    run_tasks(threads, l.B * l.a.kv_heads * parts * kinds, [&](int64_t i, int64_t slot) {
      const int64_t pair = i / (parts * kinds), part = i / kinds % parts, kind = i % kinds;
      FlashBackward<T> task{.in = l.inputs(o.in<T>(0), o.in<int32_t>(4), pair)};
      task.y = o.in<T>(1) + l.y_at(pair), task.dy = o.in<T>(3) + l.y_at(pair);
      task.y_row = l.a.heads * l.D, task.y_head = l.D;
      task.lse = o.in<float>(2) + pair * l.group * l.T, task.lse_head = l.T;
      task.query_end = l.T, task.key_end = l.T;
      T* dqkv = o.out<T>(0);
      if (kinds == 1 || kind == 0) {
        task.dk = dqkv + l.k_at(pair), task.dv = dqkv + l.v_at(pair);
        task.key_begin = cut(l.T, part, parts), task.key_end = cut(l.T, part + 1, parts);
      }
      if (kinds == 1 || kind == 1) {
        task.dq = dqkv + l.q_at(pair);
        task.query_begin = cut(l.T, part, parts), task.query_end = cut(l.T, part + 1, parts);
      }
      kernels.backward(task, o.scratch + slot * slot_bytes);
    });
  };
}

template <class T>
CpuKernel cached(const OpSig& sig, const CpuContext& context) {
  const auto c = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  const AttentionAttrs a = c.attention;
  const Problem p{a, static_cast<float>(score_scale(a))};
  const int64_t B = sig.inputs[0].shape[0], rows = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  const int64_t S = c.context, row = a.kv_heads * D;
  return [=](const Operands& o) {
    const int64_t length = o.in<int32_t>(1)[0];
    CHECK(length >= 0 && length + rows <= S, "length {} + {} rows, context {}", length, rows, S);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t t = 0; t < rows; ++t) {
        const T* k = o.in<T>(0) + (b * rows + t) * W + a.heads * D;
        std::copy(k, k + row, o.out<T>(1) + (b * S + length + t) * row);
        std::copy(k + row, k + 2 * row, o.out<T>(2) + (b * S + length + t) * row);
      }
    run_tasks(context.threads, B * a.heads, [&](int64_t i, int64_t slot) {
      const int64_t b = i / a.heads, h = i % a.heads, kv = h / (a.heads / a.kv_heads);
      float* weights = reinterpret_cast<float*>(o.scratch + slot * cached_slot_bytes(S));
      for (int64_t t = 0; t < rows; ++t)
        attend(p, o.in<T>(0) + (b * rows + t) * W + h * D, o.out<T>(1) + b * S * row + kv * D,
               o.out<T>(2) + b * S * row + kv * D, row, p.first_key(length + t, nullptr), length + t, weights,
               o.out<T>(0) + ((b * rows + t) * a.heads + h) * D);
    });
  };
}

}  // namespace

CpuKernel prepare_attention(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? forward<bf16>(sig, context) : forward<float>(sig, context);
}

CpuKernel prepare_attention_grad(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? backward<bf16>(sig, context) : backward<float>(sig, context);
}

CpuKernel prepare_cached_attention(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? cached<bf16>(sig, context) : cached<float>(sig, context);
}

}  // namespace trireme
