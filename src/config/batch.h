// [batch]: the global batch of an optimizer step and the part of it that runs at once.
#pragma once
#include "config/field.h"

namespace trireme {

template <template <class> class As>
struct BatchKeys {
  As<int64_t> sequences{};  // per optimizer step, all ranks together; a multiple of micro
  As<int64_t> micro{};      // sequences per rank and forward
  As<int64_t> lanes{};      // contiguous parts of a step that are summed on their own, then in a binary tree
};

using BatchSpec = BatchKeys<Plain>;
struct RawBatch : BatchKeys<Maybe> {
  std::optional<int64_t> tokens;  // instead of sequences: sequences * data.seq_len
};

}  // namespace trireme
