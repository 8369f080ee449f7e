// [optimizer]: AdamW (Loshchilov & Hutter 2019), or SGD with momentum. Decay applies to matrices only.
#pragma once
#include "config/field.h"

namespace trireme {

enum class OptimizerKind : uint8_t { adamw, sgd };
std::span<const std::string_view> names_of_values(OptimizerKind);

template <template <class> class As>
struct OptimizerKeys {
  As<OptimizerKind> kind{};
  As<double> lr{};     // peak learning rate; [lr] says how it varies
  As<double> beta1{};  // AdamW's
  As<double> beta2{};
  As<double> eps{};
  As<double> momentum{};      // SGD's: m = momentum m + g, w -= lr m
  As<double> weight_decay{};  // per step w -= lr * weight_decay * w
  As<double> clip_norm{};     // largest norm of the whole model's gradient; 0: off
};

using OptimizerSpec = OptimizerKeys<Plain>;
using RawOptimizer = OptimizerKeys<Maybe>;

}  // namespace trireme
