// The softmax kernel of the head, one per instruction set: works on one row of logits.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

struct RowLossSpec {
  int64_t vocab = 0;
  float z_loss = 0.0f;
  float softcap = 0.0f;   // 0: none
  bool gradient = false;  // overwrite the logits with the loss's gradient
};

struct RowLoss {
  float nll = 0.0f;  // -log p[target]
  float z = 0.0f;    // z_loss * lse^2
};

struct RowKernels {
  // The target is an id; the logits are raw (not yet capped).
  RowLoss (*loss_f32)(const RowLossSpec& spec, float* logits, int32_t target);
  RowLoss (*loss_bf16)(const RowLossSpec& spec, bf16* logits, int32_t target);
  // Caps n logits in place.
  void (*cap)(float* logits, int64_t n, float softcap);
};

RowKernels row_kernels_baseline();
RowKernels row_kernels_avx2();
RowKernels row_kernels_avx512();

}  // namespace trireme
