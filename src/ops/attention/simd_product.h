// Small f32 products in cache: C[m, n] (+)= A[m, k] B[k, n] with A read one number at a time (so its strides
// are free) and B, C by rows of whole vectors. Each element of C sums over k in order, from what C held.
#pragma once
#include "device/cpu/simd.h"
#include "ops/attention/flash_span.h"

namespace trireme {
namespace {

struct Factor {
  const float* at = nullptr;
  int64_t row = 0, column = 0;  // strides
};
struct Rows {
  float* at = nullptr;
  int64_t stride = 0;
};
enum class Sum : uint8_t { fresh, onto };

#if defined(__AVX512F__)
inline constexpr int kProductRows = 8, kProductVectors = 2;
#elif defined(__AVX2__)
inline constexpr int kProductRows = 4, kProductVectors = 1;
#else
inline constexpr int kProductRows = 2, kProductVectors = 1;
#endif

template <int kRows, int kVectors>
void product_block(const Factor& a, const Rows& b, const Rows& c, int64_t k, Sum sum) {
  simd::F32x16 acc[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      acc[i][j] = sum == Sum::onto ? simd::load(c.at + i * c.stride + j * simd::kLanes) : simd::zero();
  for (int64_t l = 0; l < k; ++l) {
    simd::F32x16 row[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) row[j] = simd::load(b.at + l * b.stride + j * simd::kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const simd::F32x16 x = simd::splat(a.at[i * a.row + l * a.column]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) acc[i][j] = simd::fma(x, row[j], acc[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) simd::store(c.at + i * c.stride + j * simd::kLanes, acc[i][j]);
}

template <int kVectors>
void product_columns(const Factor& a, const Rows& b, const Rows& c, int64_t m, int64_t k, Sum sum) {
  int64_t i = 0;
  const auto from_row = [&](int64_t row) { return Factor{a.at + row * a.row, a.row, a.column}; };
  for (; i + kProductRows <= m; i += kProductRows)
    product_block<kProductRows, kVectors>(from_row(i), b, {c.at + i * c.stride, c.stride}, k, sum);
  for (; i < m; ++i) product_block<1, kVectors>(from_row(i), b, {c.at + i * c.stride, c.stride}, k, sum);
}

// n is a multiple of 16.
void product(const Factor& a, const Rows& b, const Rows& c, int64_t m, int64_t n, int64_t k, Sum sum) {
  constexpr int64_t kStep = kProductVectors * simd::kLanes;
  int64_t j = 0;
  for (; j + kStep <= n; j += kStep)
    product_columns<kProductVectors>(a, {b.at + j, b.stride}, {c.at + j, c.stride}, m, k, sum);
  for (; j < n; j += simd::kLanes)
    product_columns<1>(a, {b.at + j, b.stride}, {c.at + j, c.stride}, m, k, sum);
}

// Rows [0, rows) of x as f32 with `width` columns each, zeros behind head_dim and behind `rows` up to
// `padded`.
template <class T>
void widen_rows(const T* x, int64_t stride, int64_t head_dim, int64_t rows, int64_t padded, int64_t width,
                float* out) {
  for (int64_t i = 0; i < padded; ++i)
    for (int64_t d = 0; d < width; d += simd::kLanes) {
      const int64_t left = i < rows ? head_dim - d : 0;
      if (left > 0) ask_for(x + d, stride, i, rows);
      const simd::F32x16 lanes = left > 0 ? simd::load(x + i * stride + d, left) : simd::zero();
      simd::store(out + i * width + d, lanes);
    }
}

// The transpose: out[width][padded].
template <class T>
void widen_columns(const T* x, int64_t stride, int64_t head_dim, int64_t rows, int64_t padded, int64_t width,
                   float* out) {
  for (int64_t i = 0; i < padded; ++i)
    for (int64_t d = 0; d < width; d += simd::kLanes) {
      const int64_t left = i < rows ? head_dim - d : 0;
      if (left > 0) ask_for(x + d, stride, i, rows);
      float lanes[simd::kLanes];
      simd::store(lanes, left > 0 ? simd::load(x + i * stride + d, left) : simd::zero());
      for (int64_t lane = 0; lane < simd::kLanes; ++lane) out[(d + lane) * padded + i] = lanes[lane];
    }
}

// Row i of a transposed [head_dim][stride] times `factor`, to `out` in its own type.
template <class T>
void narrow_column(const float* x, int64_t stride, int64_t head_dim, float factor, T* out) {
  for (int64_t d = 0; d < head_dim; d += simd::kLanes) {
    const int64_t left = smaller(simd::kLanes, head_dim - d);
    float lanes[simd::kLanes] = {};
    for (int64_t lane = 0; lane < left; ++lane) lanes[lane] = x[(d + lane) * stride];
    simd::store(out + d, simd::load(lanes) * simd::splat(factor), left);
  }
}

// Row i of a transposed [head_dim][stride] times `factor` onto old * `keep`.
void mix_column(const float* x, int64_t stride, int64_t head_dim, float factor, float keep, float* sum) {
  for (int64_t d = 0; d < head_dim; d += simd::kLanes) {
    const int64_t left = smaller(simd::kLanes, head_dim - d);
    float lanes[simd::kLanes] = {};
    for (int64_t lane = 0; lane < left; ++lane) lanes[lane] = x[(d + lane) * stride];
    const simd::F32x16 old = simd::load(sum + d, left) * simd::splat(keep);
    simd::store(sum + d, simd::fma(simd::load(lanes), simd::splat(factor), old), left);
  }
}

// A row times `factor`, added to `sum`.
void add_row(const float* x, int64_t head_dim, float factor, float* sum) {
  for (int64_t d = 0; d < head_dim; d += simd::kLanes) {
    const int64_t left = smaller(simd::kLanes, head_dim - d);
    simd::store(sum + d, simd::fma(simd::load(x + d, left), simd::splat(factor), simd::load(sum + d, left)),
                left);
  }
}

// A row times `factor`, to `out` in its own type.
template <class T>
void narrow_row(const float* x, int64_t head_dim, float factor, T* out) {
  for (int64_t d = 0; d < head_dim; d += simd::kLanes) {
    const int64_t left = smaller(simd::kLanes, head_dim - d);
    simd::store(out + d, simd::load(x + d, left) * simd::splat(factor), left);
  }
}

}  // namespace
}  // namespace trireme
