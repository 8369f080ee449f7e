// zero on the CPU.
#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"

namespace trireme {

CpuKernel prepare_zero(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 16384;  // elements
  const int64_t n = count(sig.outputs[0].shape);
  return [n, threads = context.threads](const Operands& operands) {
    float* x = operands.out<float>(0);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      std::memset(x + begin, 0, static_cast<size_t>(end - begin) * sizeof(float));
    });
  };
}

}  // namespace trireme
