// [parallel]: how the run is spread over ranks. The mesh is dp_replicate x dp_shard, dp_shard innermost.
#pragma once
#include "config/field.h"

namespace trireme {

template <template <class> class As>
struct ParallelKeys {
  As<int64_t> dp_replicate{};  // copies of the model; gradients are summed over them
  As<int64_t> dp_shard{};      // ranks that share one copy's state as `zero` says
  // What dp_shard divides: 0 nothing, 1 optimizer state, 2 and gradients, 3 and parameters (Rajbhandari et
  // al. 2020).
  As<int64_t> zero{};
  As<bool> reshard_after_forward{};  // zero 3: parameters are gathered again for backward
};

using ParallelSpec = ParallelKeys<Plain>;
using RawParallel = ParallelKeys<Maybe>;

}  // namespace trireme
