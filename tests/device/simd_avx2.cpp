// simd.h as compiled for AVX2. What other files share is included before the target changes.
#include "device/simd_probe.h"
#pragma GCC target("avx2,fma,f16c")
#include "device/simd_probe.inc"

namespace trireme {
SimdProbe simd_probe_avx2() { return make_probe(); }
}  // namespace trireme
