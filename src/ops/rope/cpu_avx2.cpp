// The rotation for AVX2.
#include "ops/rope/simd_kernels.h"

namespace trireme {

RopeRow rope_row_avx2(RotaryLayout layout, DType dtype) { return rope_row_here(layout, dtype); }

}  // namespace trireme
