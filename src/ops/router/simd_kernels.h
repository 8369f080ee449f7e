// The loops of cpu_kernels.h, compiled once per instruction set. All of them keep a small block of sums in
// registers; the order of each sum does not depend on the block that it is in.
#pragma once
#include "device/cpu/simd.h"
#include "ops/router/cpu_kernels.h"

namespace trireme {
namespace {

using simd::F32x16;
using simd::kLanes;

// kTokens x kExperts dot products over the width.
template <class T, int kTokens, int kExperts>
void dots(const RouterProduct& p, int64_t token, int64_t expert, float* logits) {
  const T* x = static_cast<const T*>(p.x) + token * p.width;
  const T* w = static_cast<const T*>(p.weight) + expert * p.width;
  F32x16 sums[kTokens][kExperts] = {};
  const auto add = [&](int64_t c, const auto& load) {
    F32x16 weights[kExperts];
#pragma GCC unroll 4
    for (int e = 0; e < kExperts; ++e) weights[e] = load(w + e * p.width + c);
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      const F32x16 row = load(x + t * p.width + c);
#pragma GCC unroll 4
      for (int e = 0; e < kExperts; ++e) sums[t][e] = fma(row, weights[e], sums[t][e]);
    }
  };
  int64_t c = 0;
  for (; c + kLanes <= p.width; c += kLanes) add(c, [](const T* at) { return simd::load(at); });
  if (c < p.width) add(c, [n = p.width - c](const T* at) { return simd::load(at, n); });
  for (int t = 0; t < kTokens; ++t)
    for (int e = 0; e < kExperts; ++e) logits[(token + t) * p.experts + expert + e] = simd::sum(sums[t][e]);
}

template <class T>
void logits(const RouterProduct& p, float* to) {
  for (int64_t t = 0; t < p.tokens;) {
    const bool four = p.tokens - t >= 4;
    for (int64_t e = 0; e < p.experts;) {
      const bool wide = p.experts - e >= 4;
      if (four && wide)
        dots<T, 4, 4>(p, t, e, to);
      else if (four)
        dots<T, 4, 1>(p, t, e, to);
      else if (wide)
        dots<T, 1, 4>(p, t, e, to);
      else
        dots<T, 1, 1>(p, t, e, to);
      e += wide ? 4 : 1;
    }
    t += four ? 4 : 1;
  }
}

// kTokens rows of dx, 64 columns from `c` on.
template <class T, int kTokens>
void dx_block(const RouterProduct& p, int64_t token, int64_t c, T* dx) {
  constexpr int kVectors = 4;
  const T* w = static_cast<const T*>(p.weight) + c;
  const float* d = p.dlogits + token * p.experts;
  F32x16 sums[kTokens][kVectors] = {};
  const auto add = [&](const auto& load) {
    for (int64_t e = 0; e < p.experts; ++e) {
      F32x16 weights[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) weights[v] = load(w + e * p.width, v * kLanes);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) {
        const F32x16 by = simd::splat(d[t * p.experts + e]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sums[t][v] = fma(by, weights[v], sums[t][v]);
      }
    }
  };
  const int64_t left = p.width - c;
  if (left >= kVectors * kLanes)
    add([](const T* row, int64_t at) { return simd::load(row + at); });
  else
    add([left](const T* row, int64_t at) {
      return at < left ? simd::load(row + at, left - at) : simd::zero();
    });
  for (int t = 0; t < kTokens; ++t)
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = v * kLanes;
      if (at < left) simd::store(dx + (token + t) * p.width + c + at, sums[t][v], left - at);
    }
}

template <class T>
void dx(const RouterProduct& p, void* to) {
  for (int64_t t = 0; t < p.tokens;) {
    const bool four = p.tokens - t >= 4;
    for (int64_t c = 0; c < p.width; c += 4 * kLanes)
      if (four)
        dx_block<T, 4>(p, t, c, static_cast<T*>(to));
      else
        dx_block<T, 1>(p, t, c, static_cast<T*>(to));
    t += four ? 4 : 1;
  }
}

// kExperts rows of dweight, 32 columns from `c` on; none at `end` or behind.
template <class T, int kExperts>
void dweight_block(const RouterProduct& p, int64_t expert, int64_t c, int64_t end, float* dweight) {
  constexpr int kVectors = 2;
  const T* x = static_cast<const T*>(p.x) + c;
  const float* d = p.dlogits + expert;
  F32x16 sums[kExperts][kVectors] = {};
  const auto add = [&](const auto& load) {
    for (int64_t t = 0; t < p.tokens; ++t) {
      F32x16 row[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) row[v] = load(x + t * p.width, v * kLanes);
#pragma GCC unroll 8
      for (int e = 0; e < kExperts; ++e) {
        const F32x16 by = simd::splat(d[t * p.experts + e]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[e][v] = fma(by, row[v], sums[e][v]);
      }
    }
  };
  if (c + kVectors * kLanes <= end)
    add([](const T* row, int64_t at) { return simd::load(row + at); });
  else
    add([n = end - c](const T* row, int64_t at) {
      return at < n ? simd::load(row + at, n - at) : simd::zero();
    });
  for (int e = 0; e < kExperts; ++e)
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = c + v * kLanes;
      float* to = dweight + (expert + e) * p.width + at;
      if (at < end) simd::store(to, simd::load(to, end - at) + sums[e][v], end - at);
    }
}

// Tokens in blocks whose columns stay in the second-level cache while all experts pass.
template <class T>
void add_dweight(const RouterProduct& p, int64_t begin, int64_t end, float* dweight) {
  constexpr int64_t kTokens = 256;
  for (int64_t t = 0; t < p.tokens; t += kTokens) {
    RouterProduct block = p;
    block.tokens = p.tokens - t < kTokens ? p.tokens - t : kTokens;
    block.x = static_cast<const T*>(p.x) + t * p.width;
    block.dlogits = p.dlogits + t * p.experts;
    for (int64_t c = begin; c < end; c += 2 * kLanes)
      for (int64_t e = 0; e < p.experts;) {
        const bool wide = p.experts - e >= 8;
        if (wide)
          dweight_block<T, 8>(block, e, c, end, dweight);
        else
          dweight_block<T, 1>(block, e, c, end, dweight);
        e += wide ? 8 : 1;
      }
  }
}

inline RouterKernels router_kernels_here(DType dtype) {
  if (dtype == DType::bf16) return {logits<bf16>, dx<bf16>, add_dweight<bf16>};
  return {logits<float>, dx<float>, add_dweight<float>};
}

}  // namespace
}  // namespace trireme
