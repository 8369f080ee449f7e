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

// Rows that are worked on together: while one row's sum goes through its lanes, the next row's is under way,
// and weights are loaded once for all. A row's result does not depend on its company.
constexpr int kGroup = 4;

// Hint: what lies `ahead` elements behind p, in the next group of rows, will be read or written soon.
template <class T>
TRIREME_SIMD void expect(const T* p, int64_t ahead) {
  __builtin_prefetch(p + ahead);
}

// x + addend, rounded, into sum; returns the sum over the row of what was stored.
template <class T>
TRIREME_SIMD float add_row(const T* x, const T* addend, T* sum, int64_t width) {
  return sum_lanes(width, [&](int64_t i, int64_t n) {
    simd::store(sum + i, simd::load(x + i, n) + simd::load(addend + i, n), n);
    return simd::load(sum + i, n);
  });
}

template <NormKind kKind, class T, int kRows>
TRIREME_SIMD void norm_rows(const NormForward& c, int64_t row) {
  const float inverse_width = 1.0f / static_cast<float>(c.width);
  const int64_t at = row * c.width;
  const T* x = static_cast<const T*>(c.x) + at;
  float mean[kRows] = {}, rstd[kRows];
  if (c.addend != nullptr) {
    T* sum = static_cast<T*>(c.sum) + at;
    for (int r = 0; r < kRows; ++r) {
      const int64_t j = r * c.width;
      mean[r] = add_row(x + j, static_cast<const T*>(c.addend) + at + j, sum + j, c.width);
    }
    x = sum;
  } else if constexpr (kKind == NormKind::layer) {
    for (int r = 0; r < kRows; ++r)
      mean[r] = sum_lanes(c.width, [&](int64_t i, int64_t n) { return simd::load(x + r * c.width + i, n); });
  }
  for (int r = 0; r < kRows; ++r) {
    mean[r] = kKind == NormKind::layer ? mean[r] * inverse_width : 0.0f;
    const float squares = sum_lanes(c.width, [&](int64_t i, int64_t n) {
      const F32x16 d = first_lanes(simd::load(x + r * c.width + i, n) - splat(mean[r]), n);
      return d * d;
    });
    rstd[r] = 1.0f / __builtin_sqrtf(squares * inverse_width + c.eps);
  }
  for (int r = 0; r < kRows; ++r) {
    c.rstd[row + r] = rstd[r];
    if constexpr (kKind == NormKind::layer) c.mean[row + r] = mean[r];
  }
  const T *weight = static_cast<const T*>(c.weight), *bias = static_cast<const T*>(c.bias);
  T* y = static_cast<T*>(c.y) + at;
  for_lanes(c.width, [&](int64_t i, int64_t n) {
    const F32x16 w = simd::load(weight + i, n), b = bias != nullptr ? simd::load(bias + i, n) : simd::zero();
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int64_t j = r * c.width + i;
      const F32x16 normed = (simd::load(x + j, n) - splat(mean[r])) * splat(rstd[r]);
      expect(static_cast<const T*>(c.x) + at + j, kRows * c.width);
      if (c.addend != nullptr) {
        expect(static_cast<const T*>(c.addend) + at + j, kRows * c.width);
        expect(x + j, kRows * c.width);
      }
      expect(y + j, kRows * c.width);
      simd::store(y + j, fma(normed, w, b), n);
    }
  });
}

template <NormKind kKind, class T>
void norm_forward(const NormForward& call) {
  const NormForward c = call;
  int64_t row = 0;
  for (; row + kGroup <= c.rows; row += kGroup) norm_rows<kKind, T, kGroup>(c, row);
  for (; row < c.rows; ++row) norm_rows<kKind, T, 1>(c, row);
}

// What the gradient of one row needs: dx = rstd (dy w - m1 - xhat m2) with xhat = (x - mean) rstd, m1 the
// mean of dy w (0 for rms) and m2 that of dy w xhat.
struct RowTerms {
  float mean, rstd, m1, m2;
};

// Both sums of kRows rows in one go over them, each sum in two interleaved halves.
template <NormKind kKind, class T, int kRows>
TRIREME_SIMD void row_terms(const NormBackward& c, int64_t row, RowTerms (&terms)[kRows]) {
  const T *x = static_cast<const T*>(c.x) + row * c.width, *dy = static_cast<const T*>(c.dy) + row * c.width;
  const T* weight = static_cast<const T*>(c.weight);
  F32x16 plain[kRows][2] = {}, along[kRows][2] = {};
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
    terms[r] = {kKind == NormKind::layer ? c.mean[row + r] : 0.0f, c.rstd[row + r], 0.0f, 0.0f};
  const auto add = [&](int64_t i, int64_t n, int half) {
    const F32x16 w = simd::load(weight + i, n);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int64_t j = r * c.width + i;
      const F32x16 g = simd::load(dy + j, n) * w;  // 0 behind the end
      if constexpr (kKind == NormKind::layer) plain[r][half] += g;
      along[r][half] = fma(g, simd::load(x + j, n) - splat(terms[r].mean), along[r][half]);
    }
  };
  int64_t i = 0;
  for (; i + 2 * kLanes <= c.width; i += 2 * kLanes) {
    add(i, kLanes, 0);
    add(i + kLanes, kLanes, 1);
  }
  for (; i < c.width; i += kLanes) add(i, c.width - i, 0);
  const float inverse_width = 1.0f / static_cast<float>(c.width);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kKind == NormKind::layer) terms[r].m1 = sum(plain[r][0] + plain[r][1]) * inverse_width;
    terms[r].m2 = sum(along[r][0] + along[r][1]) * terms[r].rstd * inverse_width;
  }
}

// kRows rows at once, so that the sums over rows are loaded and stored once per kRows.
template <NormKind kKind, class T, int kRows>
TRIREME_SIMD void backward_rows(const NormBackward& c, int64_t row) {
  RowTerms terms[kRows];
  row_terms<kKind, T, kRows>(c, row, terms);
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
      expect(x + j, kRows * c.width);
      expect(dy + j, kRows * c.width);
      expect(dx + j, kRows * c.width);
      simd::store(dx + j, d, n);
      dweight = fma(g, xhat, dweight);
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
  for (; row + kGroup <= c.rows; row += kGroup) backward_rows<kKind, T, kGroup>(c, row);
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
