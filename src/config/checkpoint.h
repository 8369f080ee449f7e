// [checkpoint]: when the run is saved and how many saves are kept. One is always saved at the end.
#pragma once
#include "config/field.h"

namespace trireme {

template <template <class> class As>
struct CheckpointKeys {
  As<int64_t> every_steps{};  // 0: only at the end and on a signal
  As<int64_t> keep{};         // newest ones kept; 0: all
};

using CheckpointSpec = CheckpointKeys<Plain>;
using RawCheckpoint = CheckpointKeys<Maybe>;

}  // namespace trireme
