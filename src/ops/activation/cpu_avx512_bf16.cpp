// Activation loops for AVX-512 with bf16 conversion.
#include "ops/activation/simd_kernels.h"

namespace trireme {

ActivationKernels activation_kernels_avx512_bf16(ActivationKind kind, DType dtype) {
  return activation_kernels_here(kind, dtype);
}

}  // namespace trireme
