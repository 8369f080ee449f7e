// simd.h as compiled for AVX-512. What other files share is included before the target changes. g++ reads all
// of a file before it obeys the pragma, too late for the macros that an option would define.
#include "device/simd_probe.h"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#define __AVX2__ 1
#define __AVX512F__ 1
#include "device/simd_probe.inc"

namespace trireme {
SimdProbe simd_probe_avx512() { return make_probe(); }
}  // namespace trireme
