// Rewrites every attention of a Graph into one over a cache.
#include "passes/decode.h"

#include "ops/attention/attention.h"
#include "ops/op.h"

namespace trireme {

void add_kv_cache(Graph& graph, int64_t context) {
  ValueId length;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].kind != "attention") continue;
    if (!length.valid()) length = add_value(graph, {"length", {DType::i32, {1}}, ValueRole::batch, {}});
    const auto plain = unpack_attrs<AttentionAttrs>(graph.ops[i].attrs);
    const CachedAttentionAttrs attrs{.attention = plain, .context = context};
    const TensorType qkv = graph.value(graph.ops[i].inputs[0]).type;
    const TensorType cache{qkv.dtype, {qkv.shape[0], context, plain.kv_heads * plain.head_dim}};
    const ValueId k = add_value(graph, {"k_cache", cache, ValueRole::state, {}});
    const ValueId v = add_value(graph, {"v_cache", cache, ValueRole::state, {}});
    Op& op = graph.ops[i];
    op = {"cached_attention", pack_attrs(attrs), {op.inputs[0], length}, {op.outputs[0], k, v}};
  }
}

}  // namespace trireme
