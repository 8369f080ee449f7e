// The loops of cpu_kernels.h, compiled once per instruction set.
#pragma once
#include "device/cpu/simd_bf16_math.h"
#include "ops/activation/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::splat;

// x/2 (1 + tanh u) = x sigmoid(2u), which keeps its precision where tanh is near -1. Below -8 the sigmoid is
// 0 to 1e-21; bounding x there keeps products with its powers finite. Each function takes T, how x and the
// result are stored: in bf16 the sigmoid may be rough (simd_bf16_math.h).
struct GeluTanh {
  static constexpr float kScale = 1.5957691216f;  // 2 sqrt(2/pi)
  static constexpr float kCubic = 0.044715f;

  TRIREME_SIMD static F32x16 twice_u(const F32x16& x, const F32x16& square) {
    return x * fma(square, splat(kScale * kCubic), splat(kScale));
  }
  template <class T>
  TRIREME_SIMD static F32x16 value(const F32x16& x) {
    const F32x16 bounded = max(splat(-8.0f), x);
    return bounded * simd::sigmoid_for<T>(twice_u(bounded, bounded * bounded));
  }
  // gate + x gate (1 - gate) 2u': in bf16 right to 2^-12 (absolute, since the terms may cancel).
  template <class T>
  TRIREME_SIMD static F32x16 slope(const F32x16& x) {
    const F32x16 bounded = max(splat(-8.0f), min(splat(8.0f), x)), square = bounded * bounded;
    const simd::SigmoidAndRest gate = simd::sigmoid_and_rest_for<T>(twice_u(bounded, square));
    const F32x16 inner = fma(square, splat(3 * kScale * kCubic), splat(kScale));
    return fma(bounded * gate.rest * gate.value, inner, gate.value);
  }
};

struct Gelu {
  TRIREME_SIMD static F32x16 cumulative(const F32x16& x) {
    return fma(splat(0.5f), simd::erf(x * splat(0.70710678119f)), splat(0.5f));
  }
  template <class T>
  TRIREME_SIMD static F32x16 value(const F32x16& x) {
    return x * cumulative(x);
  }
  template <class T>
  TRIREME_SIMD static F32x16 slope(const F32x16& x) {
    const F32x16 bounded = max(splat(-20.0f), min(splat(20.0f), x));  // the density is 0 beyond
    const F32x16 density = splat(0.39894228040f) * simd::exp(bounded * bounded * splat(-0.5f));
    return fma(bounded, density, cumulative(x));
  }
};

struct Relu2 {
  template <class T>
  TRIREME_SIMD static F32x16 value(const F32x16& x) {
    const F32x16 positive = max(simd::zero(), x);
    return positive * positive;
  }
  template <class T>
  TRIREME_SIMD static F32x16 slope(const F32x16& x) {
    const F32x16 positive = max(simd::zero(), x);
    return positive + positive;
  }
};

template <class F, class T>
void forward(const void* x_data, void* y_data, int64_t n) {
  const T* x = static_cast<const T*>(x_data);
  T* y = static_cast<T*>(y_data);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    simd::expect_writes(y + i);
    simd::store(y + i, F::template value<T>(simd::load(x + i)));
  }
  if (i < n) simd::store(y + i, F::template value<T>(simd::load(x + i, n - i)), n - i);
}

template <class F, class T>
void backward(const void* x_data, const void* dy_data, void* dx_data, int64_t n) {
  const T* x = static_cast<const T*>(x_data);
  const T* dy = static_cast<const T*>(dy_data);
  T* dx = static_cast<T*>(dx_data);
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    simd::expect_writes(dx + i);
    simd::store(dx + i, F::template slope<T>(simd::load(x + i)) * simd::load(dy + i));
  }
  if (i < n)
    simd::store(dx + i, F::template slope<T>(simd::load(x + i, n - i)) * simd::load(dy + i, n - i), n - i);
}

template <class F>
ActivationKernels kernels_of(DType dtype) {
  if (dtype == DType::bf16) return {forward<F, bf16>, backward<F, bf16>};
  return {forward<F, float>, backward<F, float>};
}

ActivationKernels activation_kernels_here(ActivationKind kind, DType dtype) {
  switch (kind) {
    case ActivationKind::gelu_tanh:
      return kernels_of<GeluTanh>(dtype);
    case ActivationKind::gelu:
      return kernels_of<Gelu>(dtype);
    case ActivationKind::relu2:
      break;
  }
  return kernels_of<Relu2>(dtype);
}

}  // namespace
}  // namespace trireme
