// simd.h as compiled for AVX-512. What other files share is included before the target changes.
#include "device/simd_probe.h"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#include "device/simd_probe.inc"

namespace trireme {
SimdProbe simd_probe_avx512() { return make_probe(); }
}  // namespace trireme
