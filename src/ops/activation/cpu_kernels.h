// The loops of activation and activation_grad: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

enum class ActivationKind : uint8_t { gelu_tanh, gelu, relu2 };

// n elements in one compute dtype.
struct ActivationKernels {
  void (*forward)(const void* x, void* y, int64_t n);                    // y may be x
  void (*backward)(const void* x, const void* dy, void* dx, int64_t n);  // dx may be dy
};

ActivationKernels activation_kernels_baseline(ActivationKind kind, DType dtype);
ActivationKernels activation_kernels_avx2(ActivationKind kind, DType dtype);
ActivationKernels activation_kernels_avx512(ActivationKind kind, DType dtype);
ActivationKernels activation_kernels_avx512_bf16(ActivationKind kind, DType dtype);

}  // namespace trireme
