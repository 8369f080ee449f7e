// The loops of cpu_kernels.h, compiled once per instruction set. A row is read two or three times, from the
// nearest cache after the first.
#pragma once
#include "device/cpu/simd.h"
#include "ops/layernorm/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::kLanes;
using simd::splat;

// Calls f(i, n) for each vector of a row: n = 16, or what is left at the end.
template <class F>
TRIREME_SIMD void for_lanes(int64_t width, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) f(i, int64_t{kLanes});
  if (i < width) f(i, width - i);
}

// The sum of f(i, n) over a row, in four interleaved sums so that additions do not wait for each other.
template <class F>
TRIREME_SIMD float sum_lanes(int64_t width, const F& f) {
  F32x16 sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= width; i += 4 * kLanes)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sums[k] += f(i + k * kLanes, int64_t{kLanes});
  for (; i + kLanes <= width; i += kLanes) sums[0] += f(i, int64_t{kLanes});
  if (i < width) sums[1] += f(i, width - i);
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// Keeps the first n lanes, zeroes the rest: a row's tail must not count in the variance.
TRIREME_SIMD F32x16 first_lanes(const F32x16& x, int64_t n) {
  if (n == kLanes) return x;
  return select(simd::lane_numbers() < splat(static_cast<int32_t>(n)), x, simd::zero());
}

template <NormKind kKind, class T>
void norm_row(const NormForward& c, const T* x, T* y, int64_t row) {
  const float inverse_width = 1.0f / static_cast<float>(c.width);
  float mean = 0.0f;
  if constexpr (kKind == NormKind::layer) {
    mean = inverse_width * sum_lanes(c.width, [&](int64_t i, int64_t n) { return simd::load(x + i, n); });
    c.mean[row] = mean;
  }
  const float squares = sum_lanes(c.width, [&](int64_t i, int64_t n) {
    const F32x16 d = first_lanes(simd::load(x + i, n) - splat(mean), n);
    return d * d;
  });
  const float rstd = 1.0f / __builtin_sqrtf(squares * inverse_width + c.eps);
  c.rstd[row] = rstd;
  const T *weight = static_cast<const T*>(c.weight), *bias = static_cast<const T*>(c.bias);
  for_lanes(c.width, [&](int64_t i, int64_t n) {
    const F32x16 scaled = (simd::load(x + i, n) - splat(mean)) * splat(rstd) * simd::load(weight + i, n);
    simd::store(y + i, bias != nullptr ? scaled + simd::load(bias + i, n) : scaled, n);
  });
}

template <NormKind kKind, class T>
void norm_forward(const NormForward& call) {
  const NormForward c = call;
  for (int64_t row = 0; row < c.rows; ++row) {
    const int64_t at = row * c.width;
    const T* x = static_cast<const T*>(c.x) + at;
    if (c.addend != nullptr) {
      const T* addend = static_cast<const T*>(c.addend) + at;
      T* sum = static_cast<T*>(c.sum) + at;
      for_lanes(c.width, [&](int64_t i, int64_t n) {
        simd::store(sum + i, simd::load(x + i, n) + simd::load(addend + i, n), n);
      });
      x = sum;
    }
    norm_row<kKind>(c, x, static_cast<T*>(c.y) + at, row);
  }
}

// What the gradient of one row needs: dx = rstd (dy w - m1 - xhat m2) with xhat = (x - mean) rstd, m1 the
// mean of dy w (0 for rms) and m2 that of dy w xhat.
struct RowTerms {
  float mean, rstd, m1, m2;
};

template <NormKind kKind, class T>
TRIREME_SIMD RowTerms row_terms(const NormBackward& c, int64_t row) {
  const T *x = static_cast<const T*>(c.x) + row * c.width, *dy = static_cast<const T*>(c.dy) + row * c.width;
  const T* weight = static_cast<const T*>(c.weight);
  const float inverse_width = 1.0f / static_cast<float>(c.width);
  RowTerms t{kKind == NormKind::layer ? c.mean[row] : 0.0f, c.rstd[row], 0.0f, 0.0f};
  const auto g = [&](int64_t i, int64_t n) { return simd::load(dy + i, n) * simd::load(weight + i, n); };
  if constexpr (kKind == NormKind::layer) t.m1 = sum_lanes(c.width, g) * inverse_width;
  const float along = sum_lanes(c.width, [&](int64_t i, int64_t n) {
    return g(i, n) * (simd::load(x + i, n) - splat(t.mean));  // g is 0 behind the end
  });
  t.m2 = along * t.rstd * inverse_width;
  return t;
}

// kRows rows at once, so that the sums over rows are loaded and stored once per kRows.
template <NormKind kKind, class T, int kRows>
TRIREME_SIMD void backward_rows(const NormBackward& c, int64_t row) {
  RowTerms terms[kRows];
  for (int r = 0; r < kRows; ++r) terms[r] = row_terms<kKind, T>(c, row + r);
  const int64_t at = row * c.width;
  const T *x = static_cast<const T*>(c.x) + at, *dy = static_cast<const T*>(c.dy) + at;
  const T* residual = c.residual != nullptr ? static_cast<const T*>(c.residual) + at : nullptr;
  const T* weight = static_cast<const T*>(c.weight);
  T* dx = static_cast<T*>(c.dx) + at;
  for_lanes(c.width, [&](int64_t i, int64_t n) {
    const F32x16 w = simd::load(weight + i, n);
    F32x16 dweight = simd::load(c.dweight + i, n);
    F32x16 dbias = c.dbias != nullptr ? simd::load(c.dbias + i, n) : simd::zero();
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int64_t j = r * c.width + i;
      const F32x16 g = simd::load(dy + j, n);
      const F32x16 xhat = (simd::load(x + j, n) - splat(terms[r].mean)) * splat(terms[r].rstd);
      F32x16 d = splat(terms[r].rstd) * (g * w - splat(terms[r].m1) - xhat * splat(terms[r].m2));
      if (residual != nullptr) d += simd::load(residual + j, n);
      simd::store(dx + j, d, n);
      dweight += g * xhat;
      dbias += g;
    }
    simd::store(c.dweight + i, dweight, n);
    if (c.dbias != nullptr) simd::store(c.dbias + i, dbias, n);
  });
}

template <NormKind kKind, class T>
void norm_backward(const NormBackward& call) {
  const NormBackward c = call;
  for (int64_t i = 0; i < c.width; ++i) c.dweight[i] = 0.0f;
  for (int64_t i = 0; c.dbias != nullptr && i < c.width; ++i) c.dbias[i] = 0.0f;
  int64_t row = 0;
  for (; row + 4 <= c.rows; row += 4) backward_rows<kKind, T, 4>(c, row);
  for (; row < c.rows; ++row) backward_rows<kKind, T, 1>(c, row);
}

void add_chunks(const float* parts, int64_t chunks, int64_t stride, float* total, int64_t n) {
  for_lanes(n, [&](int64_t i, int64_t lanes) {
    F32x16 s = simd::zero();
    for (int64_t chunk = 0; chunk < chunks; ++chunk) s += simd::load(parts + chunk * stride + i, lanes);
    simd::store(total + i, simd::load(total + i, lanes) + s, lanes);
  });
}

template <NormKind kKind>
NormKernels norm_kernels_of(DType dtype) {
  if (dtype == DType::bf16) return {norm_forward<kKind, bf16>, norm_backward<kKind, bf16>, add_chunks};
  return {norm_forward<kKind, float>, norm_backward<kKind, float>, add_chunks};
}

NormKernels norm_kernels_here(NormKind kind, DType dtype) {
  return kind == NormKind::layer ? norm_kernels_of<NormKind::layer>(dtype)
                                 : norm_kernels_of<NormKind::rms>(dtype);
}

}  // namespace
}  // namespace trireme
