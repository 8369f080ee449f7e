// Norms over the last dim. layernorm: y = (x - mean) rstd w + b (Ba et al. 2016); rmsnorm: y = x rstd w
// (Zhang & Sennrich 2019), rstd = 1 / sqrt(mean square + eps). Three folders share this page: layernorm,
// rmsnorm and add_norm (which normalises the sum of two inputs).
#pragma once
#include <algorithm>
#include <cstdint>

namespace trireme {

// layernorm, rmsnorm, add_layernorm, add_rmsnorm, rmsnorm_grad
struct NormAttrs {
  double eps = 1e-5;
  template <class F>
  void fields(F&& f) {
    f("eps", eps);
  }
};

struct LayernormGradAttrs {
  int64_t bias = 1;  // 1: dbias is there too
  template <class F>
  void fields(F&& f) {
    f("bias", bias);
  }
};

// Sums over rows (dweight, dbias) are made per chunk of rows, then over chunks in index order. The chunks
// depend on the shape alone: at most 64, of at least 32 rows, a multiple of 4.
inline int64_t norm_chunk_rows(int64_t rows) { return std::max<int64_t>(32, ((rows + 63) / 64 + 3) / 4 * 4); }
inline int64_t norm_chunks(int64_t rows) {
  return (rows + norm_chunk_rows(rows) - 1) / norm_chunk_rows(rows);
}

}  // namespace trireme
