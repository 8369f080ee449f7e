// What becomes of the optimizer's settings when the batch must change.
#pragma once
#include "config/optimizer.h"
#include "plan/calculators/worked.h"

namespace trireme {

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adamw;
  double lr = 0;
  double beta1 = 0, beta2 = 0, eps = 0;  // AdamW's
};

// For a batch of k times as many samples. Adam: lr sqrt(k), 1 - k (1 - beta), eps / sqrt(k) (Malladi et al.
// 2022, "On the SDEs and Scaling Rules for Adaptive Gradient Algorithms", definition 5.3). SGD: lr k,
// momentum as it is (Goyal et al. 2017). Keys "k", "lr", "beta1", "beta2", "eps". UserError where a beta
// would come out at 0 or less, with the largest k that the rule takes.
Answer scale_batch(const OptimizerSettings& settings, double from, double to);

}  // namespace trireme
