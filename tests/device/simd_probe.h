// Vector functions of one instruction set behind plain functions, so that one test file can drive all of
// them. Filled in by simd_probe.inc, which each simd_*.cpp compiles for its own.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct SimdProbe {
  void (*exp)(const float* x, float* y);  // 16 lanes each
  void (*tanh)(const float* x, float* y);
  void (*erf)(const float* x, float* y);
  void (*sigmoid)(const float* x, float* y);
  void (*rough_sigmoid)(const float* x, float* y);
  void (*rough_rest)(const float* x, float* y);  // 1 - sigmoid
  void (*to_bf16)(const float* x, bf16* y);
  void (*from_bf16)(const bf16* x, float* y);
  void (*copy_first)(const float* x, float* y, int64_t n);
  float (*sum)(const float* x);
  float (*max)(const float* x);
};

SimdProbe simd_probe_baseline();
SimdProbe simd_probe_avx2();
SimdProbe simd_probe_avx512();
SimdProbe simd_probe_avx512_bf16();

}  // namespace trireme
