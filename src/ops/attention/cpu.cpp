// The CPU kernels of attention, attention_grad and cached_attention.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/attention/attention.h"

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
CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<AttentionAttrs>(sig.attrs);
  const Problem p{a, static_cast<float>(score_scale(a))};
  const int64_t B = sig.inputs[0].shape[0], rows = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  return [=](const Operands& o) {
    run_tasks(context.threads, B * a.heads, [&](int64_t i, int64_t slot) {
      const int64_t b = i / a.heads, h = i % a.heads, kv = h / (a.heads / a.kv_heads);
      const T* qkv = o.in<T>(0) + b * rows * W;
      const int32_t* doc_start = o.in<int32_t>(1) != nullptr ? o.in<int32_t>(1) + b * rows : nullptr;
      float* weights = reinterpret_cast<float*>(o.scratch) + slot * rows;
      for (int64_t t = 0; t < rows; ++t)
        o.out<float>(1)[i * rows + t] =
            attend(p, qkv + t * W + h * D, qkv + (a.heads + kv) * D, qkv + (a.heads + a.kv_heads + kv) * D, W,
                   p.first_key(t, doc_start), t, weights, o.out<T>(0) + ((b * rows + t) * a.heads + h) * D);
    });
  };
}

template <class T>
CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<AttentionAttrs>(sig.attrs);
  const Problem p{a, static_cast<float>(score_scale(a))};
  const int64_t B = sig.inputs[0].shape[0], rows = sig.inputs[0].shape[1], W = qkv_width(a), D = a.head_dim;
  const int64_t group = a.heads / a.kv_heads;
  return [=](const Operands& o) {
    run_tasks(context.threads, B * a.kv_heads, [&](int64_t i, int64_t slot) {
      const int64_t b = i / a.kv_heads, kv = i % a.kv_heads, block = rows * D;
      float* sums = reinterpret_cast<float*>(o.scratch) + slot * block * (group + 2);
      std::fill(sums, sums + block * (group + 2), 0.0f);
      const T* qkv = o.in<T>(0) + b * rows * W;
      const int32_t* doc_start = o.in<int32_t>(4) != nullptr ? o.in<int32_t>(4) + b * rows : nullptr;
      for (int64_t g = 0; g < group; ++g)
        for (int64_t t = 0; t < rows; ++t) {
          const int64_t h = kv * group + g, at = ((b * rows + t) * a.heads + h) * D;
          const T *q = qkv + t * W + h * D, *dy = o.in<T>(3) + at;
          const float delta = dot(dy, o.in<T>(1) + at, D), lse = o.in<float>(2)[(b * a.heads + h) * rows + t];
          for (int64_t s = p.first_key(t, doc_start); s <= t; ++s) {
            const T *k = qkv + s * W + (a.heads + kv) * D, *v = k + a.kv_heads * D;
            float slope = 0.0f;
            const float weight = std::exp(score(p, q, k, &slope) - lse);
            const float ds = weight * (dot(dy, v, D) - delta) * slope * p.scale;
            for (int64_t d = 0; d < D; ++d) {
              sums[g * block + t * D + d] += ds * to_float(k[d]);
              sums[group * block + s * D + d] += ds * to_float(q[d]);
              sums[(group + 1) * block + s * D + d] += weight * to_float(dy[d]);
            }
          }
        }
      for (int64_t t = 0; t < rows; ++t) {
        T* out = o.out<T>(0) + (b * rows + t) * W;
        for (int64_t d = 0; d < D; ++d) {
          for (int64_t g = 0; g < group; ++g)
            out[(kv * group + g) * D + d] = from_float<T>(sums[g * block + t * D + d]);
          out[(a.heads + kv) * D + d] = from_float<T>(sums[group * block + t * D + d]);
          out[(a.heads + a.kv_heads + kv) * D + d] = from_float<T>(sums[(group + 1) * block + t * D + d]);
        }
      }
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
      float* weights = reinterpret_cast<float*>(o.scratch) + slot * S;
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
