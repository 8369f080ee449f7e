// What a flash attention kernel is given: one key head of one sequence with the query heads that read it.
// Pointers and strides only, so that any layout of q, k and v will do. Included by files of every instruction
// set: plain data, no functions.
//
// Queries and keys are counted from 0 each; `offset` says how they lie to each other, so that queries may
// attend to a chunk of keys from elsewhere (partial results then merge by their log-sum-exps).
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

// Query row i sees the key rows max(0, doc_start[i] - first_key, i + offset - window + 1) .. min(i + offset,
// key_rows - 1).
struct FlashMask {
  int64_t query_rows = 0, key_rows = 0;
  int64_t offset = 0;                  // position of query row 0 less that of key row 0
  int64_t window = 0;                  // 0: none
  int64_t first_key = 0;               // position of key row 0
  const int32_t* doc_start = nullptr;  // per query row, a position; null: none
};

// Strides are in elements. Query head g begins at q + g * q_head.
template <class T>
struct FlashInputs {
  const T *q = nullptr, *k = nullptr, *v = nullptr;
  int64_t q_row = 0, q_head = 0, kv_row = 0;
  int64_t group = 1;  // query heads
  int64_t head_dim = 0;
  float scale = 1.0f, softcap = 0.0f;
  FlashMask mask;
};

// y = softmax(scores) v and lse = log-sum-exp of the scores, for the query rows [query_begin, query_end) of
// every head. A row that sees nothing gets y = 0, lse = -infinity.
//
// With y_sum, y is not written: y_sum and lse hold what earlier calls gave for other keys (0 and -infinity
// where there were none), and become what those keys and these give together.
template <class T>
struct FlashForward {
  FlashInputs<T> in;
  T* y = nullptr;
  float* y_sum = nullptr;  // strided as y
  int64_t y_row = 0, y_head = 0;
  float* lse = nullptr;  // null: not wanted
  int64_t lse_head = 0;
  int64_t query_begin = 0, query_end = 0;  // multiples of kFlashBlock, or the end
};

// Sums of gradients that a call adds to.
struct FlashSums {
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;
  int64_t q_row = 0, q_head = 0, kv_row = 0;
};

// Gradients for a range of queries (dq) or of keys (dk, dv) or both. The sums behind an element have the same
// order however the work is cut. What these keys give a query is its gradient's part from them: calls for
// other keys and queries add up, to `sums`.
template <class T>
struct FlashBackward {
  FlashInputs<T> in;
  const T *y = nullptr, *dy = nullptr;
  int64_t y_row = 0, y_head = 0;
  const float* lse = nullptr;
  int64_t lse_head = 0;
  T *dq = nullptr, *dk = nullptr, *dv = nullptr;  // strided as q, k, v; dq or (dk and dv) may be null
  FlashSums sums;                                 // where they are not null, instead of dq or of dk and dv
  int64_t query_begin = 0, query_end = 0;         // multiples of kFlashBlock, or the end
  int64_t key_begin = 0, key_end = 0;
};

// One query head over `keys` rows of a cache: y = softmax(scores) v.
template <class T>
struct FlashDecode {
  const T *q = nullptr, *k = nullptr, *v = nullptr;
  int64_t kv_row = 0, keys = 0, head_dim = 0;
  float scale = 1.0f, softcap = 0.0f;
  float* weights = nullptr;  // scratch: keys, rounded up to 16
  T* y = nullptr;
};

template <class T>
struct FlashKernels {
  void (*forward)(const FlashForward<T>& task, void* scratch) = nullptr;
  void (*backward)(const FlashBackward<T>& task, void* scratch) = nullptr;
  void (*decode)(const FlashDecode<T>& task) = nullptr;
};

// cpu_NAME.cpp each.
FlashKernels<float> flash_f32_baseline();
FlashKernels<float> flash_f32_avx2();
FlashKernels<float> flash_f32_avx512();
FlashKernels<bf16> flash_bf16_baseline();
FlashKernels<bf16> flash_bf16_avx2();
FlashKernels<bf16> flash_bf16_avx512();
FlashKernels<bf16> flash_bf16_amx();

}  // namespace trireme
