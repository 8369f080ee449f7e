// The loop of sgd: one version per instruction set.
#pragma once
#include <cstdint>

namespace trireme {

// The step's constants, each rounded once from f64.
struct SgdStep {
  float inverse_tokens, clip;
  float momentum;
  float keep;  // 1 - lr * weight_decay
  float step;  // lr
};

using SgdKernel = void (*)(const SgdStep& step, const float* grad, float* param, float* m, int64_t n);

SgdKernel sgd_kernel_baseline();
SgdKernel sgd_kernel_avx2();
SgdKernel sgd_kernel_avx512();

}  // namespace trireme
