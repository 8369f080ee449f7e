// The loops of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd_bf16_math.h"
#include "ops/experts/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::kLanes;
using simd::splat;

template <class T>
void gate_forward(const void* hidden, float weight, void* gated, int64_t ffn) {
  const T *gate = static_cast<const T*>(hidden), *up = gate + ffn;
  T* to = static_cast<T*>(gated);
  for (int64_t i = 0; i < ffn; i += kLanes) {
    const int64_t left = ffn - i;
    const F32x16 g = simd::load(gate + i, left);
    simd::expect_writes(to + i);
    simd::store(to + i, g * simd::sigmoid_for<T>(g) * (simd::load(up + i, left) * splat(weight)), left);
  }
}

// d silu(g) = s + g s (1 - s) with s = sigmoid(g).
template <class T>
float gate_backward(const void* hidden, const void* dgated, float weight, void* gated, void* dhidden,
                    int64_t ffn) {
  const T *gate = static_cast<const T*>(hidden), *up = gate + ffn, *d = static_cast<const T*>(dgated);
  T *to = static_cast<T*>(gated), *dgate = static_cast<T*>(dhidden), *dup = dgate + ffn;
  F32x16 dweight = simd::zero();
  for (int64_t i = 0; i < ffn; i += kLanes) {
    const int64_t left = ffn - i;
    const F32x16 g = max(splat(-80.0f), simd::load(gate + i, left));  // e^80 is finite
    const F32x16 u = simd::load(up + i, left), arrived = simd::load(d + i, left);
    const simd::SigmoidAndRest sigmoid = simd::sigmoid_and_rest_for<T>(g);
    const F32x16 silu = g * sigmoid.value, through = arrived * splat(weight);
    dweight = fma(arrived, silu * u, dweight);
    simd::expect_writes(to + i);
    simd::expect_writes(dgate + i);
    simd::expect_writes(dup + i);
    simd::store(to + i, silu * (u * splat(weight)), left);
    simd::store(dgate + i, through * u * fma(silu, sigmoid.rest, sigmoid.value), left);
    simd::store(dup + i, through * silu, left);
  }
  return simd::sum(dweight);
}

template <class T>
void combine(const void* rows, const int32_t* slots, int64_t n, void* to, int64_t width) {
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 sum = simd::zero();
    for (int64_t j = 0; j < n; ++j)
      if (slots[j] >= 0) sum += simd::load(static_cast<const T*>(rows) + slots[j] * width + c, width - c);
    simd::store(static_cast<T*>(to) + c, sum, width - c);
  }
}

inline GateKernels gate_kernels_here(DType dtype) {
  if (dtype == DType::bf16) return {gate_forward<bf16>, gate_backward<bf16>, combine<bf16>};
  return {gate_forward<float>, gate_backward<float>, combine<float>};
}

}  // namespace
}  // namespace trireme
