// The softmax kernels of the head, one set per instruction set: they work on one row of logits.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "ops/head/row_part.h"

namespace trireme {

struct RowLossSpec {
  int64_t vocab = 0;
  float z_loss = 0.0f;
  float softcap = 0.0f;   // 0: none
  bool gradient = false;  // overwrite the logits with the loss's gradient
  int64_t padding = 0;    // behind the vocab's logits, of a cut vocabulary
};

struct RowLoss {
  float nll = 0.0f;  // -log p[target]
  float z = 0.0f;    // z_loss * lse^2
};

// How a rank ends its part of a row once all parts are known.
struct RowEnd {
  float factor = 0.0f;  // of exp(logit - top): d loss = p (1 + 2 z_loss lse), less 1 at the target
  int64_t target = -1;  // as an index into this rank's logits; -1: another rank's
  float hit = 0.0f;     // the target's logit
};

struct RowKernels {
  // The target is an id; the logits are raw (not yet capped).
  RowLoss (*loss_f32)(const RowLossSpec& spec, float* logits, int32_t target);
  RowLoss (*loss_bf16)(const RowLossSpec& spec, bf16* logits, int32_t target);
  // The same for a row of which this rank has a part: first what it knows (raw logits, and the target as an
  // index into them or -1), then, for the gradient, the end, on what `part` has left of the logits.
  HeadRowPart (*part_f32)(const RowLossSpec& spec, float* logits, int64_t target);
  HeadRowPart (*part_bf16)(const RowLossSpec& spec, bf16* logits, int64_t target);
  void (*end_f32)(const RowLossSpec& spec, float* logits, const RowEnd& end);
  void (*end_bf16)(const RowLossSpec& spec, bf16* logits, const RowEnd& end);
  // Caps n logits in place.
  void (*cap)(float* logits, int64_t n, float softcap);
  // Multiplies n of them.
  void (*scale_f32)(float* logits, int64_t n, float factor);
  void (*scale_bf16)(bf16* logits, int64_t n, float factor);
};

RowKernels row_kernels_baseline();
RowKernels row_kernels_avx2();
RowKernels row_kernels_avx512();

}  // namespace trireme
