// add on the CPU: elements are shared out among the threads.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/add/simd_kernels.h"

namespace trireme {

AddKernel add_kernel_baseline(DType dtype) { return add_kernel_here(dtype); }

CpuKernel prepare_add(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 16384;  // elements
  const DType dtype = sig.inputs[0].dtype;
  const int64_t n = count(sig.inputs[0].shape), size = size_of(dtype);
  const AddKernel loop = context.isa >= CpuIsa::avx512_bf16 ? add_kernel_avx512_bf16(dtype)
                         : context.isa >= CpuIsa::avx512    ? add_kernel_avx512(dtype)
                         : context.isa >= CpuIsa::avx2      ? add_kernel_avx2(dtype)
                                                            : add_kernel_baseline(dtype);
  return [=, threads = context.threads](const Operands& operands) {
    const std::byte *a = operands.in<std::byte>(0), *b = operands.in<std::byte>(1);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      loop(a + begin * size, b + begin * size, y + begin * size, end - begin);
    });
  };
}

}  // namespace trireme
