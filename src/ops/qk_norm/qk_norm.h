// RMSNorm over the D elements of each query and key head of a fused projection (Qwen3's q_norm and k_norm;
// Henry et al. 2020, "Query-Key Normalization"), before rope:
//
//   qk_norm(qkv[B,T,(H+2K)*D], weight_q[D], weight_k[D]){...} -> y, rstd f32[B,T,H+K]       v is copied
//   qk_norm_grad(qkv, weight_q, weight_k, rstd, dy){...} -> dqkv, dweight_q f32[D] +=, dweight_k f32[D] +=
//
// y = x rstd weight with rstd = 1 / sqrt(mean(x^2) + eps).
#pragma once
#include <algorithm>
#include <cstdint>

namespace trireme {

struct QkNormAttrs {
  int64_t heads = 0;     // H
  int64_t kv_heads = 0;  // K
  int64_t head_dim = 0;  // D
  double eps = 1e-6;

  template <class F>
  void fields(F&& f) {
    f("heads", heads);
    f("kv_heads", kv_heads);
    f("head_dim", head_dim);
    f("eps", eps);
  }
};

// The weight gradients are summed over chunks of this many tokens, then over chunks in order; it depends on
// the shape alone, and there are at most 128 chunks.
inline int64_t qk_norm_chunk_tokens(int64_t tokens) { return std::max<int64_t>(16, (tokens + 127) / 128); }

}  // namespace trireme
