// The head: logits = x W^T with W[V,C], softcap(z) = c tanh(z / c), cross-entropy. The logits of a whole
// batch never exist: the loss goes through the batch in chunks of rows.
//
// On a mesh axis the vocabulary may be cut: every rank has `vocab` rows of the weight, of which the last
// ranks' may end in padding, and the same x and targets. Ranks exchange three numbers per row (largest logit,
// sum of exponentials, the target's logit), after which each has the whole loss, of the same bits on all, and
// its part of the gradients: its rows of dweight, and an addend of dx. (Shoeybi et al. 2019, Megatron-LM,
// section 3, has the exchange; here the three travel together.)
#pragma once
#include "ops/op.h"

namespace trireme {

// head_loss, head_loss_grad
struct HeadLossAttrs {
  int64_t vocab = 0, width = 0;  // rows and columns of the weight that is here
  double z_loss = 0.0;           // coefficient of lse^2 per counted token; 0: none
  double softcap = 0.0;          // 0: none
  int64_t padding = 0;           // last rows that are no token: without probability and gradient
  AxisAttrs on;                  // that the vocabulary is cut on; rank r has the tokens from r * vocab
  double further_weight = 0.0;   // of the losses of further targets, all in loss[1]; 0: there are none
  template <class F>
  void fields(F&& f) {
    f("vocab", vocab);
    f("width", width);
    f("z_loss", z_loss);
    f("softcap", softcap);
    f("padding", padding);
    on.fields(f);
    f("further_weight", further_weight);
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

// Targets: ids of tokens, or this: not counted. Or, written as -2 - id, a further target: of a prediction
// beside the one that the run is judged by, such as of the token after the next. Its loss has a weight and
// nothing of it is in loss[0] or nll.
inline constexpr int32_t kIgnoredTarget = -1;
constexpr int32_t further_target(int32_t id) { return -2 - id; }
constexpr bool is_further(int32_t target) { return target < kIgnoredTarget; }
constexpr int32_t target_id(int32_t target) { return is_further(target) ? -2 - target : target; }

// Rows per chunk: equal chunks, a multiple of 32 or all rows, whose logits keep within 104 MiB (1024 rows of
// GPT-2's 50257 logits in bf16).
int64_t head_chunk_rows(int64_t rows, int64_t vocab, DType dtype);

// Memory of a chunk's logits: a multiple of 64.
int64_t head_logits_bytes(int64_t chunk_rows, int64_t vocab, DType dtype);

// Memory of the parts (row_part.h) that all ranks have of a chunk: a multiple of 64; 0 where the loss does
// not go by parts, since the whole vocabulary is here.
int64_t head_parts_bytes(const HeadLossAttrs& attrs, int64_t chunk_rows);

}  // namespace trireme
