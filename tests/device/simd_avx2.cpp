// simd.h as compiled for AVX2. What other files share is included before the target changes. g++ reads all of
// a file before it obeys the pragma, too late for the macros that an option would define.
#include "device/simd_probe.h"
#pragma GCC target("avx2,fma,f16c")
#define __AVX2__ 1
#include "device/simd_probe.inc"

namespace trireme {
SimdProbe simd_probe_avx2() { return make_probe(); }
}  // namespace trireme
