// Flash attention in f32 vectors, compiled for the instruction set that the file's name says.
#include "ops/attention/simd_backward.h"
#include "ops/attention/simd_decode.h"

namespace trireme {

FlashKernels<float> flash_f32_avx2() {
  return {forward_task<float>, backward_task<float>, decode_task<float>};
}
FlashKernels<bf16> flash_bf16_avx2() { return {forward_task<bf16>, backward_task<bf16>, decode_task<bf16>}; }

}  // namespace trireme
