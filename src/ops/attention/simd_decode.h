// Attention of one query over cached keys, in f32 vectors: bound by reading the cache, once.
#pragma once
#include "ops/attention/simd_forward.h"

namespace trireme {
namespace {

template <class T>
float dot(const T* x, const T* y, int64_t n) {
  simd::F32x16 sum = simd::zero();
  for (int64_t d = 0; d < n; d += simd::kLanes)
    sum = simd::fma(simd::load(x + d, n - d), simd::load(y + d, n - d), sum);
  return simd::sum(sum);
}

// weights[s] of n scores become exp(weights[s] - max); returns their sum. The room behind n is a lane's
// width.
inline float exponentials(float* weights, int64_t n, const ScoreRule& rule) {
  simd::F32x16 top = simd::splat(kLowestTop), sum = simd::zero();
  for (int64_t s = n; s < (n + simd::kLanes - 1) / simd::kLanes * simd::kLanes; ++s)
    weights[s] = -__builtin_inff();
  for (int64_t s = 0; s < n; s += simd::kLanes) {
    const simd::F32x16 score = cap_score(rule, simd::load(weights + s));
    const simd::F32x16 seen =
        s + simd::kLanes <= n ? score
                              : simd::select(simd::lane_numbers() < simd::splat(static_cast<int32_t>(n - s)),
                                             score, simd::splat(kMasked));
    simd::store(weights + s, seen);
    top = simd::max(seen, top);
  }
  const simd::F32x16 highest = simd::splat(simd::max_lane(top));
  for (int64_t s = 0; s < n; s += simd::kLanes) {
    const simd::F32x16 weight = simd::exp(simd::load(weights + s) - highest);
    simd::store(weights + s, weight);
    sum += weight;
  }
  return simd::sum(sum);
}

// y[d .. d + 16 kVectors) of the weighted sum of rows.
template <int kVectors, class T>
void weigh(const FlashDecode<T>& task, int64_t d, float inverse) {
  simd::F32x16 acc[kVectors];
  for (int j = 0; j < kVectors; ++j) acc[j] = simd::zero();
  for (int64_t s = 0; s < task.keys; ++s) {
    const T* row = task.v + s * task.kv_row + d;
    const simd::F32x16 weight = simd::splat(task.weights[s]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      acc[j] =
          simd::fma(weight, simd::load(row + j * simd::kLanes, task.head_dim - d - j * simd::kLanes), acc[j]);
  }
  for (int j = 0; j < kVectors; ++j)
    simd::store(task.y + d + j * simd::kLanes, acc[j] * simd::splat(inverse),
                smaller(simd::kLanes, task.head_dim - d - j * simd::kLanes));
}

template <class T>
void decode_task(const FlashDecode<T>& task) {
  for (int64_t s = 0; s < task.keys; ++s) {
    ask_for(task.k, task.kv_row, s, task.keys);
    task.weights[s] = dot(task.q, task.k + s * task.kv_row, task.head_dim);
  }
  const float sum = exponentials(task.weights, task.keys, {task.scale, task.softcap});
  int64_t d = 0;
  for (; d + 64 <= task.head_dim; d += 64) weigh<4>(task, d, 1.0f / sum);
  for (; d < task.head_dim; d += simd::kLanes) weigh<1>(task, d, 1.0f / sum);
}

}  // namespace
}  // namespace trireme
