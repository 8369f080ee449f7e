// The loop of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/sgd/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::splat;

struct SgdLanes {
  F32x16 param, m;
};

TRIREME_SIMD SgdLanes sgd_lanes(const SgdStep& s, const F32x16& grad, const SgdLanes& old) {
  const F32x16 g = grad * splat(s.inverse_tokens) * splat(s.clip);
  const F32x16 m = old.m * splat(s.momentum) + g;
  return {old.param * splat(s.keep) - splat(s.step) * m, m};
}

inline void sgd_elements(const SgdStep& step, const float* grad, float* param, float* m, int64_t n) {
  const SgdStep s = step;  // no store below can change it
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    const SgdLanes fresh = sgd_lanes(s, simd::load(grad + i), {simd::load(param + i), simd::load(m + i)});
    simd::store(param + i, fresh.param);
    simd::store(m + i, fresh.m);
  }
  if (i == n) return;
  const int64_t rest = n - i;
  const SgdLanes fresh =
      sgd_lanes(s, simd::load(grad + i, rest), {simd::load(param + i, rest), simd::load(m + i, rest)});
  simd::store(param + i, fresh.param, rest);
  simd::store(m + i, fresh.m, rest);
}

inline SgdKernel sgd_kernel_here() { return sgd_elements; }

}  // namespace
}  // namespace trireme
