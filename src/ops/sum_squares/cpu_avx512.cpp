// The loop of sum_squares for AVX-512.
#include "ops/sum_squares/simd_kernels.h"

namespace trireme {

SumSquaresKernel sum_squares_kernel_avx512() { return sum_squares_kernel_here(); }

}  // namespace trireme
