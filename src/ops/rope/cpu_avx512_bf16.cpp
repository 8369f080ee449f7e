// The rotation for AVX-512 with bf16 conversion.
#include "ops/rope/simd_kernels.h"

namespace trireme {

RopeRow rope_row_avx512_bf16(RotaryLayout layout, DType dtype) { return rope_row_here(layout, dtype); }

}  // namespace trireme
