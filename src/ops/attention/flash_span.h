// Which keys the queries of a block see, and whether a block of keys needs a mask at all.
#pragma once
#include "ops/attention/flash_buffers.h"
#include "ops/attention/flash_task.h"

namespace trireme {
namespace {

inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Rows of a fused projection lie pages apart, where no hardware prefetcher follows: loops over rows ask for
// the one this much further on.
inline constexpr int64_t kRowsAhead = 24;

template <class T>
inline void ask_for(const T* rows, int64_t stride, int64_t row, int64_t end) {
  __builtin_prefetch(rows + smaller(row + kRowsAhead, end - 1) * stride);
}

// For the queries [begin, begin + count), of which those past mask.query_rows are padding: they see every
// key, so that they never ask for a mask.
inline void fill_span(const FlashMask& mask, int64_t begin, int64_t count, BlockSpan& span) {
  span.lowest_first = span.lowest_last = INT32_MAX;
  span.highest_first = span.highest_last = -1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = begin + i, position = row + mask.offset;
    if (row >= mask.query_rows) {
      span.first[i] = 0, span.last[i] = INT32_MAX;
      continue;
    }
    const int64_t document = mask.doc_start != nullptr ? mask.doc_start[row] - mask.first_key : 0;
    const int64_t window = mask.window > 0 ? position - mask.window + 1 : 0;
    const auto first = static_cast<int32_t>(larger(0, larger(document, window)));
    const auto last = static_cast<int32_t>(smaller(position, mask.key_rows - 1));
    span.first[i] = first, span.last[i] = last;
    span.lowest_first = static_cast<int32_t>(smaller(span.lowest_first, first));
    span.highest_first = static_cast<int32_t>(larger(span.highest_first, first));
    span.lowest_last = static_cast<int32_t>(smaller(span.lowest_last, last));
    span.highest_last = static_cast<int32_t>(larger(span.highest_last, last));
  }
}

template <class T>
inline bool wants_queries(const FlashBackward<T>& task) {
  return task.dq != nullptr || task.sums.dq != nullptr;
}
template <class T>
inline bool wants_keys(const FlashBackward<T>& task) {
  return task.dk != nullptr || task.sums.dk != nullptr;
}

inline bool sees_none(const BlockSpan& span, int64_t key_begin, int64_t key_end) {
  return span.highest_last < key_begin || span.lowest_first >= key_end;
}

inline bool needs_mask(const BlockSpan& span, int64_t key_begin, int64_t key_end) {
  return span.highest_first > key_begin || span.lowest_last < key_end - 1;
}

}  // namespace
}  // namespace trireme
