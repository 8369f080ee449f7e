// router and router_grad on the CPU: tokens are shared out, then one thread counts choices in token order.
#include <algorithm>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/router/cpu_choice.h"
#include "ops/router/simd_kernels.h"

namespace trireme {

RouterKernels router_kernels_baseline(DType dtype) { return router_kernels_here(dtype); }

namespace {

constexpr int64_t kTokens = 16;  // that a thread takes at a time

RouterKernels pick(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  if (context.isa >= CpuIsa::avx512) return router_kernels_avx512(dtype);
  return context.isa >= CpuIsa::avx2 ? router_kernels_avx2(dtype) : router_kernels_baseline(dtype);
}

struct Sizes {
  int64_t tokens, seq_len, width, row_bytes;  // of x
};

Sizes sizes_of(const OpSig& sig) {
  const TensorType& x = sig.inputs[0];
  return {x.shape[0] * x.shape[1], x.shape[1], x.shape[2], x.shape[2] * size_of(x.dtype)};
}

// Counts the choices, and drops those that find their expert full.
void count_choices(const RouterAttrs& a, const OpSig& sig, int32_t* ids, float* weights, float* counts,
                   int64_t* taken) {
  const Sizes s = sizes_of(sig);
  const int64_t room = expert_capacity(a, s.tokens);
  const bool by_sequence = a.counts_per == "sequence";
  std::fill_n(counts, count(sig.outputs[3].shape), 0.0f);
  std::fill_n(taken, a.experts, 0);
  for (int64_t t = 0; t < s.tokens; ++t) {
    float* row = counts + (by_sequence ? t / s.seq_len * a.experts : 0);
    for (int64_t at = t * a.top_k; at < (t + 1) * a.top_k; ++at) {
      const int32_t e = ids[at];
      row[e] += 1.0f;
      if (taken[e]++ < room) continue;
      ids[at] = ~e;
      weights[at] = 0.0f;
    }
  }
}

void count_load(const RouterAttrs& a, const int32_t* ids, int64_t choices, float* dstate) {
  for (int64_t i = 0; i < choices; ++i) {
    dstate[chosen_expert(ids[i])] += 1.0f;
    if (ids[i] < 0) dstate[a.experts + chosen_expert(ids[i])] += 1.0f;
  }
}

}  // namespace

CpuKernel prepare_router(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<RouterAttrs>(sig.attrs);
  const Sizes s = sizes_of(sig);
  return [=, kernels = pick(sig, context)](const Operands& operands) {
    const float* bias = operands.inputs.size() > 2 ? operands.in<float>(2) : nullptr;
    auto* ids = operands.out<int32_t>(0);
    auto *weights = operands.out<float>(1), *scores = operands.out<float>(2);
    parallel_for(context.threads, s.tokens, kTokens, [&](int64_t begin, int64_t end) {
      auto* rows =
          reinterpret_cast<float*>(operands.scratch + omp_get_thread_num() * choice_scratch_bytes(a));
      const ChoiceScratch scratch{rows, rows + a.experts};
      for (int64_t t = begin; t < end; t += kTokens) {
        const int64_t n = std::min(kTokens, end - t);
        const RouterProduct block{n, a.experts, s.width, operands.in<std::byte>(0) + t * s.row_bytes,
                                  operands.inputs[1]};
        kernels.logits(block, scores + t * a.experts);
        for (int64_t i = t; i < t + n; ++i)
          choose(a, scores + i * a.experts, bias, scratch, ids + i * a.top_k, weights + i * a.top_k);
      }
    });
    auto* taken = reinterpret_cast<int64_t*>(operands.scratch + context.threads * choice_scratch_bytes(a));
    count_choices(a, sig, ids, weights, operands.out<float>(3), taken);
  };
}

CpuKernel prepare_router_grad(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<RouterAttrs>(sig.attrs);
  const Sizes s = sizes_of(sig);
  return [=, kernels = pick(sig, context)](const Operands& operands) {
    const auto* ids = operands.in<int32_t>(2);
    const auto *scores = operands.in<float>(3), *dweights = operands.in<float>(4),
               *dscores = operands.in<float>(5);
    auto* dlogits = reinterpret_cast<float*>(operands.scratch);
    RouterProduct all{s.tokens, a.experts, s.width, operands.inputs[0], operands.inputs[1], dlogits};
    parallel_for(context.threads, s.tokens, kTokens, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; t += kTokens) {
        RouterProduct block = all;
        block.tokens = std::min(kTokens, end - t);
        block.x = operands.in<std::byte>(0) + t * s.row_bytes;
        block.dlogits = dlogits + t * a.experts;
        if (a.z_loss != 0) kernels.logits(block, dlogits + t * a.experts);
        for (int64_t i = t; i < t + block.tokens; ++i)
          logits_gradient(a,
                          {ids + i * a.top_k, scores + i * a.experts,
                           dweights != nullptr ? dweights + i * a.top_k : nullptr,
                           dscores != nullptr ? dscores + i * a.experts : nullptr},
                          dlogits + i * a.experts);
        kernels.dx(block, operands.out<std::byte>(0) + t * s.row_bytes);
      }
    });
    if (auto* dweight = operands.out<float>(1); dweight != nullptr)
      parallel_for(context.threads, s.width, 32,
                   [&](int64_t begin, int64_t end) { kernels.add_dweight(all, begin, end, dweight); });
    if (auto* dstate = operands.out<float>(2); dstate != nullptr)
      count_load(a, ids, s.tokens * a.top_k, dstate);
  };
}

}  // namespace trireme
