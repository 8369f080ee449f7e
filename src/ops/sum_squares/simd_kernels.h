// The loop of cpu_kernels.h, compiled once per instruction set. Squares of f32 are exact in f64, so that a
// fused multiply-add gives the same bits as two roundings.
#pragma once
#include "device/cpu/simd.h"
#include "ops/sum_squares/cpu_kernels.h"

namespace trireme {
namespace {

constexpr int kSquareLanes = 16;  // f64 sums, one per element of a block

double sum_of_squares(const float* x, int64_t n) {
  double lanes[kSquareLanes] = {};
  int64_t i = 0;
  for (; i + kSquareLanes <= n; i += kSquareLanes)
    for (int lane = 0; lane < kSquareLanes; ++lane) {
      const double value = x[i + lane];
      lanes[lane] += value * value;
    }
  for (; i < n; ++i) lanes[i % kSquareLanes] += double{x[i]} * x[i];
  for (int half = kSquareLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

SumSquaresKernel sum_squares_kernel_here() { return sum_of_squares; }

}  // namespace
}  // namespace trireme
