// qk_norm and qk_norm_grad on the CPU. Tokens are shared out among the threads, in the gradient by chunks
// whose sums of weight gradients lie in scratch and are added up in order.
#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/qk_norm/qk_norm.h"
#include "ops/qk_norm/simd_kernels.h"

namespace trireme {

QkNormKernels qk_norm_kernels_baseline(DType dtype) { return qk_norm_kernels_here(dtype); }

namespace {

// What both calls need.
struct Heads {
  QkNormKernels kernels;
  int64_t tokens, queries, keys, dim;
  int64_t head_bytes;

  int64_t normed() const { return queries + keys; }
  int64_t token_bytes() const { return (queries + 2 * keys) * head_bytes; }
};

QkNormKernels pick(DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return qk_norm_kernels_avx512_bf16(dtype);
  if (isa >= CpuIsa::avx512) return qk_norm_kernels_avx512(dtype);
  if (isa >= CpuIsa::avx2) return qk_norm_kernels_avx2(dtype);
  return qk_norm_kernels_baseline(dtype);
}

Heads heads_of(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<QkNormAttrs>(sig.attrs);
  const TensorType& qkv = sig.inputs[0];
  return {.kernels = pick(qkv.dtype, context.isa),
          .tokens = qkv.shape[0] * qkv.shape[1],
          .queries = attrs.heads,
          .keys = attrs.kv_heads,
          .dim = attrs.head_dim,
          .head_bytes = attrs.head_dim * size_of(qkv.dtype)};
}

// The v heads of a token go through unchanged.
void copy_values(const Heads& h, const std::byte* from, std::byte* to) {
  const int64_t offset = h.normed() * h.head_bytes;
  if (from != to) std::memcpy(to + offset, from + offset, static_cast<size_t>(h.keys * h.head_bytes));
}

void normalize(const Heads& h, const Operands& operands, int64_t token, float eps) {
  const std::byte* x = operands.in<std::byte>(0) + token * h.token_bytes();
  std::byte* y = operands.out<std::byte>(0) + token * h.token_bytes();
  float* rstd = operands.out<float>(1) + token * h.normed();
  const int64_t keys_at = h.queries * h.head_bytes;
  h.kernels.forward(x, operands.in<void>(1), y, rstd, h.queries, h.dim, eps);
  h.kernels.forward(x + keys_at, operands.in<void>(2), y + keys_at, rstd + h.queries, h.keys, h.dim, eps);
  copy_values(h, x, y);
}

// Adds to dweight_q[dim] and dweight_k[dim] behind it.
void differentiate(const Heads& h, const Operands& operands, int64_t token, float* dweights) {
  const std::byte* x = operands.in<std::byte>(0) + token * h.token_bytes();
  const float* rstd = operands.in<float>(3) + token * h.normed();
  const std::byte* dy = operands.in<std::byte>(4) + token * h.token_bytes();
  std::byte* dx = operands.out<std::byte>(0) + token * h.token_bytes();
  const int64_t keys_at = h.queries * h.head_bytes;
  h.kernels.backward(x, operands.in<void>(1), rstd, dy, dx, dweights, h.queries, h.dim);
  h.kernels.backward(x + keys_at, operands.in<void>(2), rstd + h.queries, dy + keys_at, dx + keys_at,
                     dweights + h.dim, h.keys, h.dim);
  copy_values(h, dy, dx);
}

// total[d] += the sum over chunks, whose rows are 2 dim apart; nothing when total is absent.
void add_chunks(const float* sums, int64_t chunks, int64_t dim, float* total) {
  if (total == nullptr) return;
  for (int64_t d = 0; d < dim; ++d) {
    double sum = 0;
    for (int64_t c = 0; c < chunks; ++c) sum += sums[c * 2 * dim + d];
    total[d] += static_cast<float>(sum);
  }
}

}  // namespace

CpuKernel prepare_qk_norm(const OpSig& sig, const CpuContext& context) {
  const Heads h = heads_of(sig, context);
  const auto eps = static_cast<float>(unpack_attrs<QkNormAttrs>(sig.attrs).eps);
  const int64_t grain = std::max<int64_t>(1, 4096 / (h.normed() * h.dim));
  return [=, threads = context.threads](const Operands& operands) {
    parallel_for(threads, h.tokens, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) normalize(h, operands, t, eps);
    });
  };
}

CpuKernel prepare_qk_norm_grad(const OpSig& sig, const CpuContext& context) {
  const Heads h = heads_of(sig, context);
  const int64_t chunk = qk_norm_chunk_tokens(h.tokens), chunks = (h.tokens + chunk - 1) / chunk;
  return [=, threads = context.threads](const Operands& operands) {
    auto* sums = reinterpret_cast<float*>(operands.scratch);  // [chunks, 2, dim]
    parallel_for(threads, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        float* dweights = sums + c * 2 * h.dim;
        std::memset(dweights, 0, static_cast<size_t>(2 * h.dim) * sizeof(float));
        for (int64_t t = c * chunk; t < std::min(h.tokens, (c + 1) * chunk); ++t)
          differentiate(h, operands, t, dweights);
      }
    });
    add_chunks(sums, chunks, h.dim, operands.out<float>(1));
    add_chunks(sums + h.dim, chunks, h.dim, operands.out<float>(2));
  };
}

}  // namespace trireme
