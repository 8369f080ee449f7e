// simd.h as compiled for any x86-64.
#include "device/simd_probe.h"
#include "device/simd_probe.inc"

namespace trireme {
SimdProbe simd_probe_baseline() { return make_probe(); }
}  // namespace trireme
