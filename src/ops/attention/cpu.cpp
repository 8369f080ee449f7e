// The CPU kernels of attention, attention_grad and cached_attention.
#include <algorithm>

#include "device/cpu/kernels.h"
#include "ops/attention/attention.h"
#include "ops/attention/cpu_tasks.h"

namespace trireme {
namespace {

template <class T>
CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const AttentionLayout l(sig, unpack_attrs<AttentionAttrs>(sig.attrs));
  const FlashKernels<T> kernels = choose_kernels<T>(context.isa);
  const int64_t parts = parts_for(l.B * l.a.kv_heads, l.T, context.threads);
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
  const AttentionLayout l(sig, unpack_attrs<AttentionAttrs>(sig.attrs));
  const FlashKernels<T> kernels = choose_kernels<T>(context.isa);
  const int64_t parts = parts_for(l.B * l.a.kv_heads, l.T, context.threads), kinds = parts > 1 ? 2 : 1;
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

// The caches [B, S, K*D] of one call.
template <class T>
struct Caches {
  T *k = nullptr, *v = nullptr;
  int64_t rows = 0, width = 0, length = 0;  // S, K*D, positions so far
  int64_t at(const AttentionLayout& l, int64_t pair) const {
    return l.sequence(pair) * rows * width + pair % l.a.kv_heads * l.D;
  }
};

template <class T>
void append(const AttentionLayout& l, const T* qkv, const Caches<T>& caches) {
  for (int64_t row = 0; row < l.B * l.T; ++row) {
    const T* k = qkv + row * l.W + l.a.heads * l.D;
    const int64_t to = (row / l.T * caches.rows + caches.length + row % l.T) * caches.width;
    std::copy(k, k + caches.width, caches.k + to);
    std::copy(k + caches.width, k + 2 * caches.width, caches.v + to);
  }
}

// The new rows of one key head as queries at offset `length` to the whole cache.
template <class T>
FlashForward<T> prefill(const AttentionLayout& l, const T* qkv, const Caches<T>& caches, T* y, int64_t pair) {
  FlashForward<T> task{.in = l.inputs(qkv, nullptr, pair)};
  task.in.k = caches.k + caches.at(l, pair), task.in.v = caches.v + caches.at(l, pair);
  task.in.kv_row = caches.width;
  task.in.mask.key_rows = caches.length + l.T, task.in.mask.offset = caches.length;
  task.y = y + l.y_at(pair), task.y_row = l.a.heads * l.D, task.y_head = l.D;
  task.query_end = l.T;
  return task;
}

// New row `t` of query head `head`, counted over all sequences.
template <class T>
FlashDecode<T> decode(const AttentionLayout& l, const T* qkv, const Caches<T>& caches, T* y, int64_t head,
                      int64_t t) {
  const int64_t b = head / l.a.heads, h = head % l.a.heads, row = b * l.T + t;
  const int64_t last = caches.length + t,
                first = l.a.window > 0 ? std::max<int64_t>(0, last - l.a.window + 1) : 0;
  const int64_t from = caches.at(l, b * l.a.kv_heads + h / l.group) + first * caches.width;
  return {.q = qkv + row * l.W + h * l.D,
          .k = caches.k + from,
          .v = caches.v + from,
          .kv_row = caches.width,
          .keys = last - first + 1,
          .head_dim = l.D,
          .scale = static_cast<float>(score_scale(l.a)),
          .softcap = static_cast<float>(l.a.softcap),
          .y = y + (row * l.a.heads + h) * l.D};
}

template <class T>
CpuKernel cached(const OpSig& sig, const CpuContext& context) {
  const auto c = unpack_attrs<CachedAttentionAttrs>(sig.attrs);
  const AttentionLayout l(sig, c.attention);
  const FlashKernels<T> kernels = choose_kernels<T>(context.isa);
  const int64_t slot_bytes = cached_slot_bytes(l.T, c.context, l.D);
  return [=, threads = context.threads, rows = c.context](const Operands& o) {
    const Caches<T> caches{o.out<T>(1), o.out<T>(2), rows, l.a.kv_heads * l.D, o.in<int32_t>(1)[0]};
    CHECK(caches.length >= 0 && caches.length + l.T <= rows, "length {} + {} rows, context {}", caches.length,
          l.T, rows);
    const T* qkv = o.in<T>(0);
    append(l, qkv, caches);
    if (l.T >= kFlashRows)
      return run_tasks(threads, l.B * l.a.kv_heads, [&](int64_t pair, int64_t slot) {
        kernels.forward(prefill(l, qkv, caches, o.out<T>(0), pair), o.scratch + slot * slot_bytes);
      });
    run_tasks(threads, l.B * l.a.heads, [&](int64_t head, int64_t slot) {
      for (int64_t t = 0; t < l.T; ++t) {
        FlashDecode<T> task = decode(l, qkv, caches, o.out<T>(0), head, t);
        task.weights = reinterpret_cast<float*>(o.scratch + slot * slot_bytes);
        kernels.decode(task);
      }
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
