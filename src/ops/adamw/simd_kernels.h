// The loop of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd.h"
#include "ops/adamw/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::splat;

struct AdamwLanes {
  F32x16 param, m, v;
};

TRIREME_SIMD AdamwLanes adamw_lanes(const AdamwStep& s, const F32x16& grad, const AdamwLanes& old) {
  const F32x16 g = grad * splat(s.inverse_tokens) * splat(s.clip);
  const F32x16 m = old.m + splat(s.fresh1) * (g - old.m);
  const F32x16 v = old.v * splat(s.beta2) + splat(s.fresh2) * g * g;
  const F32x16 denominator = sqrt(v) / splat(s.root_bias2) + splat(s.eps);
  return {old.param * splat(s.keep) - splat(s.step) * m / denominator, m, v};
}

void adamw_elements(const AdamwStep& step, const float* grad, float* param, float* m, float* v, int64_t n) {
  const AdamwStep s = step;  // no store below can change it
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    const AdamwLanes fresh =
        adamw_lanes(s, simd::load(grad + i), {simd::load(param + i), simd::load(m + i), simd::load(v + i)});
    simd::store(param + i, fresh.param);
    simd::store(m + i, fresh.m);
    simd::store(v + i, fresh.v);
  }
  if (i == n) return;
  const int64_t rest = n - i;
  const AdamwLanes fresh =
      adamw_lanes(s, simd::load(grad + i, rest),
                  {simd::load(param + i, rest), simd::load(m + i, rest), simd::load(v + i, rest)});
  simd::store(param + i, fresh.param, rest);
  simd::store(m + i, fresh.m, rest);
  simd::store(v + i, fresh.v, rest);
}

AdamwKernel adamw_kernel_here() { return adamw_elements; }

}  // namespace
}  // namespace trireme
