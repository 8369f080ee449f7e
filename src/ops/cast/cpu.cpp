// cast on the CPU: elements are shared out among the threads.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/cast/simd_kernels.h"

namespace trireme {

CastKernel cast_kernel_baseline(DType from, DType to) { return cast_kernel_here(from, to); }

CpuKernel prepare_cast(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 16384;  // elements
  const DType from = sig.inputs[0].dtype, to = sig.outputs[0].dtype;
  const int64_t n = count(sig.inputs[0].shape), size_from = size_of(from), size_to = size_of(to);
  const CastKernel loop = context.isa >= CpuIsa::avx512_bf16 ? cast_kernel_avx512_bf16(from, to)
                          : context.isa >= CpuIsa::avx512    ? cast_kernel_avx512(from, to)
                          : context.isa >= CpuIsa::avx2      ? cast_kernel_avx2(from, to)
                                                             : cast_kernel_baseline(from, to);
  return [=, threads = context.threads](const Operands& operands) {
    const std::byte* x = operands.in<std::byte>(0);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      loop(x + begin * size_from, y + begin * size_to, end - begin);
    });
  };
}

}  // namespace trireme
