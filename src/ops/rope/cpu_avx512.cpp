// The rotation for AVX-512.
#include "ops/rope/simd_kernels.h"

namespace trireme {

RopeRow rope_row_avx512(RotaryLayout layout, DType dtype) { return rope_row_here(layout, dtype); }

}  // namespace trireme
