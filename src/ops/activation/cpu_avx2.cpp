// Activation loops for AVX2.
#include "ops/activation/simd_kernels.h"

namespace trireme {

ActivationKernels activation_kernels_avx2(ActivationKind kind, DType dtype) {
  return activation_kernels_here(kind, dtype);
}

}  // namespace trireme
