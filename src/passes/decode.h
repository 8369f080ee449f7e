// Turns a training Graph into one for generation: attention keeps its keys and values from call to call.
//
//   before: op y, lse = attention(qkv, _) {heads=4, ...}
//   after:  value k_cache: state bf16[B,context,K*D]      and v_cache
//           value length: batch i32[1]                    positions already in the caches
//           op y, k_cache, v_cache = cached_attention(qkv, length) {heads=4, ..., context=1024}
//
// The Graph must carry explicit positions, since a row no longer starts at 0.
#pragma once
#include "ir/graph.h"

namespace trireme {

void add_kv_cache(Graph& graph, int64_t context);

}  // namespace trireme
