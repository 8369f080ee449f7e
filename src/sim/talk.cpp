// A line per op that talks.
#include "sim/talk.h"

#include <algorithm>

#include "ops/attention/context.h"
#include "ops/head/head.h"
#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

Talk of_head(const OpSig& sig) {
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  const int64_t rows = count(sig.inputs[0].shape) / a.width;
  const int64_t chunk = head_chunk_rows(rows, a.vocab, sig.inputs[0].dtype);
  return {"all_gather", (rows + chunk - 1) / chunk};
}

Talk of_ring(const OpSig& sig, int64_t rounds_per_rank) {
  const int64_t ranks = unpack_attrs<ContextAttrs>(sig.attrs).at.ranks;
  return {"send", rounds_per_rank * std::max<int64_t>(1, ranks - 1), ranks};
}

}  // namespace

Talk talk_of(const OpSig& sig) {
  if (sig.kind == "all_gather") return {"all_gather"};
  if (sig.kind == "reduce_scatter") return {"reduce_scatter"};
  if (sig.kind == "all_reduce") return {"all_reduce"};
  if (sig.kind == "gather_linear") {
    const int64_t chunks = gather_linear_sizes(sig).chunks;
    return {"all_gather", chunks, chunks};
  }
  if (sig.kind == "linear_scatter") {
    const int64_t chunks = linear_scatter_sizes(sig).chunks;
    return {"reduce_scatter", chunks, chunks};
  }
  if (sig.kind == "ring_attention") return of_ring(sig, 1);
  if (sig.kind == "ring_attention_grad") return of_ring(sig, 2);
  if (sig.kind == "gather_attention") return {"all_gather"};
  if (sig.kind == "gather_attention_grad") return {"all_gather", 2};
  if (sig.kind.starts_with("ulysses_attention")) return {"all_to_all", 2};
  if (sig.kind.starts_with("experts")) return {"all_to_all", 2};
  if (sig.kind.starts_with("head_loss")) return of_head(sig);
  return {"all_gather"};
}

}  // namespace trireme
