// The head: logits = x W^T with W[V,C], softcap(z) = c tanh(z / c), cross-entropy. The logits of a whole
// batch never exist: the loss goes through the batch in chunks of rows.
#pragma once
#include "ops/op.h"

namespace trireme {

// head_loss, head_loss_grad
struct HeadLossAttrs {
  int64_t vocab = 0, width = 0;
  double z_loss = 0.0;   // coefficient of lse^2 per counted token; 0: none
  double softcap = 0.0;  // 0: none
  template <class F>
  void fields(F&& f) {
    f("vocab", vocab);
    f("width", width);
    f("z_loss", z_loss);
    f("softcap", softcap);
  }
};

struct HeadLogitsAttrs {
  int64_t vocab = 0, width = 0;
  double softcap = 0.0;
  template <class F>
  void fields(F&& f) {
    f("vocab", vocab);
    f("width", width);
    f("softcap", softcap);
  }
};

// Targets: ids in [0,vocab), or this: not counted.
inline constexpr int32_t kIgnoredTarget = -1;

// Rows per chunk: equal chunks, a multiple of 32 or all rows, whose logits keep within 104 MiB (1024 rows of
// GPT-2's 50257 logits in bf16).
int64_t head_chunk_rows(int64_t rows, int64_t vocab, DType dtype);

// Memory of a chunk's logits: a multiple of 64.
int64_t head_logits_bytes(int64_t chunk_rows, int64_t vocab, DType dtype);

}  // namespace trireme
