// [eval]: validation on a fixed set of sequences from data.val.
#pragma once
#include "config/field.h"

namespace trireme {

template <template <class> class As>
struct EvalKeys {
  As<int64_t> every_steps{};  // 0: never during training
  As<int64_t> sequences{};    // in all, at each validation; fewer when data.val has fewer
};

using EvalSpec = EvalKeys<Plain>;
using RawEval = EvalKeys<Maybe>;

}  // namespace trireme
