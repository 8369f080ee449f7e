// What the experts do with rows outside products: one version per instruction set. Rows are in the compute
// dtype, hidden and dhidden of 2F elements, gated and dgated of F.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct GateKernels {
  // gated = weight * silu(gate) * up
  void (*forward)(const void* hidden, float weight, void* gated, int64_t ffn);
  // Writes gated again, and dhidden; returns the weight's gradient.
  float (*backward)(const void* hidden, const void* dgated, float weight, void* gated, void* dhidden,
                    int64_t ffn);
  // to = the sum of rows[slots[j]] for j < n in order, in f32, rounded once; a negative slot adds nothing.
  void (*combine)(const void* rows, const int32_t* slots, int64_t n, void* to, int64_t width);
};

GateKernels gate_kernels_baseline(DType dtype);
GateKernels gate_kernels_avx2(DType dtype);
GateKernels gate_kernels_avx512(DType dtype);
GateKernels gate_kernels_avx512_bf16(DType dtype);

}  // namespace trireme
