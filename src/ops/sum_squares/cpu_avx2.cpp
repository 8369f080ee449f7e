// The loop of sum_squares for AVX2.
#include "ops/sum_squares/simd_kernels.h"

namespace trireme {

SumSquaresKernel sum_squares_kernel_avx2() { return sum_squares_kernel_here(); }

}  // namespace trireme
