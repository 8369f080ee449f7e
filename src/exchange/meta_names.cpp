// Meta's names of a dense Llama, as torchtitan's checkpoints have them.
#include "base/error.h"
#include "exchange/map_builder.h"

namespace trireme {

NameMap meta_name_map(const ModelSpec& spec) {
  if (spec.family != Family::llama || spec.moe.experts > 0 || spec.qk_norm || spec.bias ||
      spec.activation != Activation::swiglu)
    fail_user(
        "names like tok_embeddings.weight are those of Meta's Llama, a dense model of model.family = "
        "llama without biases and norms of heads, which this one is not");
  MapBuilder map(spec);
  PairOrder order;
  if (spec.rope_layout != RopeLayout::interleaved)
    order = {.period = spec.head_dim, .first = 0, .dims = spec.head_dim, .ours = spec.rope_layout};
  const int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  map.whole("embed.weight", "tok_embeddings.weight");
  for (int64_t n = 0; n < spec.layers; ++n) {
    const std::string layer = "layers." + std::to_string(n) + ".";
    map.whole(layer + "attn_norm.weight", layer + "attention_norm.weight");
    map.rows(layer + "attn.qkv.weight", {0, q}, layer + "attention.wq.weight", order);
    map.rows(layer + "attn.qkv.weight", {q, kv}, layer + "attention.wk.weight", order);
    map.rows(layer + "attn.qkv.weight", {q + kv, kv}, layer + "attention.wv.weight");
    map.whole(layer + "attn.out.weight", layer + "attention.wo.weight");
    map.whole(layer + "mlp_norm.weight", layer + "ffn_norm.weight");
    map.rows(layer + "mlp.gate_up.weight", {0, spec.ffn}, layer + "feed_forward.w1.weight");
    map.rows(layer + "mlp.gate_up.weight", {spec.ffn, spec.ffn}, layer + "feed_forward.w3.weight");
    map.whole(layer + "mlp.down.weight", layer + "feed_forward.w2.weight");
  }
  map.whole("final_norm.weight", "norm.weight");
  if (spec.tie_embeddings)
    map.whole("embed.weight", "output.weight", ForeignUse::accepted);
  else
    map.whole("head.weight", "output.weight");
  return map.take();
}

}  // namespace trireme
