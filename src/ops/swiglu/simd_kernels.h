// The loops of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd_bf16_math.h"
#include "ops/swiglu/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::splat;

// T is how the operands are stored: in bf16 the sigmoid may be rough (simd_bf16_math.h).
template <class T>
TRIREME_SIMD F32x16 gated(const F32x16& gate, const F32x16& up) {
  return gate * simd::sigmoid_for<T>(gate) * up;
}

template <class T>
void forward(const void* gate_up_row, void* y_row, int64_t width) {
  const T* gate = static_cast<const T*>(gate_up_row);
  const T* up = gate + width;
  T* y = static_cast<T*>(y_row);
  int64_t i = 0;
  for (; i + simd::kLanes <= width; i += simd::kLanes) {
    simd::expect_writes(y + i);
    simd::store(y + i, gated<T>(simd::load(gate + i), simd::load(up + i)));
  }
  const int64_t left = width - i;
  if (left > 0) simd::store(y + i, gated<T>(simd::load(gate + i, left), simd::load(up + i, left)), left);
}

struct GateUp {
  F32x16 gate, up;
};

// d silu(g) = s + g s (1 - s) with s = sigmoid(g).
template <class T>
TRIREME_SIMD GateUp gradients(const GateUp& x, const F32x16& dy) {
  const F32x16 bounded = max(splat(-80.0f), x.gate);  // e^80 is finite
  const simd::SigmoidAndRest sigmoid = simd::sigmoid_and_rest_for<T>(bounded);
  const F32x16 silu = bounded * sigmoid.value;
  return {dy * x.up * fma(silu, sigmoid.rest, sigmoid.value), dy * silu};
}

template <class T>
void backward(const void* gate_up_row, const void* dy_row, void* dgate_up_row, int64_t width) {
  const T* gate = static_cast<const T*>(gate_up_row);
  const T* dy = static_cast<const T*>(dy_row);
  T* dgate = static_cast<T*>(dgate_up_row);
  int64_t i = 0;
  for (; i + simd::kLanes <= width; i += simd::kLanes) {
    const GateUp d = gradients<T>({simd::load(gate + i), simd::load(gate + width + i)}, simd::load(dy + i));
    simd::expect_writes(dgate + i);
    simd::expect_writes(dgate + width + i);
    simd::store(dgate + i, d.gate);
    simd::store(dgate + width + i, d.up);
  }
  const int64_t left = width - i;
  if (left > 0) {
    const GateUp d = gradients<T>({simd::load(gate + i, left), simd::load(gate + width + i, left)},
                                  simd::load(dy + i, left));
    simd::store(dgate + i, d.gate, left);
    simd::store(dgate + width + i, d.up, left);
  }
}

SwigluKernels swiglu_kernels_here(DType dtype) {
  if (dtype == DType::bf16) return {forward<bf16>, backward<bf16>};
  return {forward<float>, backward<float>};
}

}  // namespace
}  // namespace trireme
