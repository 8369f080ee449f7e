// What the CPU kernels of attention share: where the parts of a fused projection lie, which flash kernels an
// instruction set has, and how a call becomes tasks for threads.
#pragma once
#include <algorithm>
#include <atomic>

#include "device/cpu/kernel.h"
#include "device/cpu/parallel.h"
#include "ops/attention/attention.h"
#include "ops/attention/flash_task.h"

namespace trireme {

// Runs task(i, slot) for i in [0, n); no two tasks with one slot run at once, so a slot owns scratch.
template <class Task>
void run_tasks(int threads, int64_t n, const Task& task) {
  std::atomic<int64_t> next{0};
  parallel_for(threads, std::min<int64_t>(threads, n), 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t i = next++; i < n; i = next++) task(i, slot);
  });
}

template <class T>
FlashKernels<T> choose_kernels(CpuIsa isa);
template <>
inline FlashKernels<float> choose_kernels(CpuIsa isa) {
  if (isa >= CpuIsa::avx512) return flash_f32_avx512();
  return isa == CpuIsa::avx2 ? flash_f32_avx2() : flash_f32_baseline();
}
template <>
inline FlashKernels<bf16> choose_kernels(CpuIsa isa) {
  if (isa == CpuIsa::amx) return flash_bf16_amx();
  if (isa >= CpuIsa::avx512) return flash_bf16_avx512();
  return isa == CpuIsa::avx2 ? flash_bf16_avx2() : flash_bf16_baseline();
}

// The sizes of one call.
struct AttentionLayout {
  AttentionAttrs a;
  int64_t B = 0, T = 0, W = 0, D = 0, group = 0;
  AttentionLayout(const OpSig& sig, const AttentionAttrs& attrs) : a(attrs) {
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
inline int64_t cut(int64_t rows, int64_t part, int64_t parts) {
  const int64_t blocks = (rows + kFlashBlock - 1) / kFlashBlock;
  return std::min(rows, blocks * part / parts * kFlashBlock);
}

// How many parts of `rows` make enough tasks for the threads when there are `pairs` of a sequence and a key
// head. Causal parts differ in cost, so more parts than needed.
inline int64_t parts_for(int64_t pairs, int64_t rows, int threads) {
  const int64_t blocks = (rows + kFlashBlock - 1) / kFlashBlock;
  if (pairs >= threads) return 1;
  return std::clamp<int64_t>(4 * threads / pairs, 1, blocks);
}

}  // namespace trireme
