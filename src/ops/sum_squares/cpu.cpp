// sum_squares on the CPU: partial sums are shared out among the threads.
#include <algorithm>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/sum_squares/simd_kernels.h"
#include "ops/sum_squares/sum_squares.h"

namespace trireme {

SumSquaresKernel sum_squares_kernel_baseline() { return sum_squares_kernel_here(); }

CpuKernel prepare_sum_squares(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 16;  // partial sums
  const int64_t n = sig.inputs[0].shape[0], partials = sig.outputs[0].shape[0];
  const SumSquaresKernel loop = context.isa >= CpuIsa::avx512 ? sum_squares_kernel_avx512()
                                : context.isa >= CpuIsa::avx2 ? sum_squares_kernel_avx2()
                                                              : sum_squares_kernel_baseline();
  return [=, threads = context.threads](const Operands& operands) {
    const float* x = operands.in<float>(0);
    double* out = operands.out<double>(0);
    parallel_for(threads, partials, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p * kSquaresPerPartial;
        out[p] = loop(x + first, std::min(kSquaresPerPartial, n - first));
      }
    });
  };
}

}  // namespace trireme
