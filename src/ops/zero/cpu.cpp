// zero on the CPU.
#include <emmintrin.h>

#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"

namespace trireme {
namespace {

// Past the caches: an accumulator of this size is long gone from them when its gradient is added, and such
// stores need not read what they overwrite.
void zero_in_memory(float* x, int64_t n) {
  int64_t i = 0;
  for (; i < n && reinterpret_cast<uintptr_t>(x + i) % 16 != 0; ++i) x[i] = 0.0f;
  const __m128 nothing = _mm_setzero_ps();
  for (; i + 4 <= n; i += 4) _mm_stream_ps(x + i, nothing);
  for (; i < n; ++i) x[i] = 0.0f;
  _mm_sfence();
}

}  // namespace

CpuKernel prepare_zero(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 16384;        // elements
  constexpr int64_t kCacheable = 1 << 18;  // elements: 1 MB, half of a second-level cache
  const int64_t n = count(sig.outputs[0].shape);
  return [n, threads = context.threads](const Operands& operands) {
    float* x = operands.out<float>(0);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      if (n > kCacheable) return zero_in_memory(x + begin, end - begin);
      std::memset(x + begin, 0, static_cast<size_t>(end - begin) * sizeof(float));
    });
  };
}

}  // namespace trireme
