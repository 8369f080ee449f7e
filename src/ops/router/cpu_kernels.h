// The router's products with its small weight, in f32 whatever the operands' dtype: one version per
// instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct RouterProduct {
  int64_t tokens = 0, experts = 0, width = 0;
  const void* x = nullptr;         // [tokens,width], x's dtype; of `add_dweight`, all tokens
  const void* weight = nullptr;    // [experts,width], x's dtype
  const float* dlogits = nullptr;  // [tokens,experts]
};

struct RouterKernels {
  // logits[t,e] = sum_c x[t,c] weight[e,c]
  void (*logits)(const RouterProduct& p, float* logits);
  // dx[t,c] = sum_e dlogits[t,e] weight[e,c], in x's dtype
  void (*dx)(const RouterProduct& p, void* dx);
  // dweight[e,c] += sum_t dlogits[t,e] x[t,c] for c in [begin,end), tokens in order
  void (*add_dweight)(const RouterProduct& p, int64_t begin, int64_t end, float* dweight);
};

RouterKernels router_kernels_baseline(DType dtype);
RouterKernels router_kernels_avx2(DType dtype);
RouterKernels router_kernels_avx512(DType dtype);

}  // namespace trireme
