// The loop of adamw: one version per instruction set.
#pragma once
#include <cstdint>

namespace trireme {

// The step's constants, each rounded once from f64.
struct AdamwStep {
  float inverse_tokens, clip;
  float keep;           // 1 - lr * weight_decay
  float fresh1;         // 1 - beta1
  float beta2, fresh2;  // 1 - beta2
  float root_bias2;     // sqrt(1 - beta2^t)
  float eps;
  float step;  // lr / (1 - beta1^t)
};

using AdamwKernel = void (*)(const AdamwStep& step, const float* grad, float* param, float* m, float* v,
                             int64_t n);

AdamwKernel adamw_kernel_baseline();
AdamwKernel adamw_kernel_avx2();
AdamwKernel adamw_kernel_avx512();

}  // namespace trireme
