// The loops of swiglu and swiglu_grad over one row: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

// gate_up and dgate_up are rows of 2F, y and dy of F elements in one compute dtype.
struct SwigluKernels {
  void (*forward)(const void* gate_up, void* y, int64_t width);
  void (*backward)(const void* gate_up, const void* dy, void* dgate_up, int64_t width);  // in place too
};

SwigluKernels swiglu_kernels_baseline(DType dtype);
SwigluKernels swiglu_kernels_avx2(DType dtype);
SwigluKernels swiglu_kernels_avx512(DType dtype);
SwigluKernels swiglu_kernels_avx512_bf16(DType dtype);

}  // namespace trireme
