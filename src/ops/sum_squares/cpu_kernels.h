// The loop of sum_squares: one version per instruction set, all with the same bits.
#pragma once
#include <cstdint>

namespace trireme {

using SumSquaresKernel = double (*)(const float* x, int64_t n);

SumSquaresKernel sum_squares_kernel_baseline();
SumSquaresKernel sum_squares_kernel_avx2();
SumSquaresKernel sum_squares_kernel_avx512();

}  // namespace trireme
