// GPT-2, whose matrices are [in, out] (transformers calls them Conv1D).
#include "exchange/hf_names.h"

namespace trireme {

void name_gpt2(MapBuilder& map, const ModelSpec& spec) {
  map.whole("embed.weight", "transformer.wte.weight");
  map.whole("positions.weight", "transformer.wpe.weight");
  struct Pair {
    const char *ours, *theirs;
  };
  for (int64_t n = 0; n < spec.layers; ++n) {
    const std::string ours = "layers." + std::to_string(n) + ".",
                      theirs = "transformer.h." + std::to_string(n) + ".";
    for (const Pair& norm : {Pair{"attn_norm", "ln_1"}, Pair{"mlp_norm", "ln_2"}})
      for (const char* kind : {".weight", ".bias"})
        map.whole(ours + norm.ours + kind, theirs + norm.theirs + kind);
    for (const Pair& linear : {Pair{"attn.qkv", "attn.c_attn"}, Pair{"attn.out", "attn.c_proj"},
                               Pair{"mlp.up", "mlp.c_fc"}, Pair{"mlp.down", "mlp.c_proj"}}) {
      map.transposed(ours + linear.ours + ".weight", theirs + linear.theirs + ".weight");
      map.whole(ours + linear.ours + ".bias", theirs + linear.theirs + ".bias");
    }
  }
  for (const std::string kind : {".weight", ".bias"})
    map.whole("final_norm" + kind, "transformer.ln_f" + kind);
  if (spec.tie_embeddings)
    map.whole("embed.weight", "lm_head.weight", ForeignUse::accepted);
  else
    map.whole("head.weight", "lm_head.weight");
}

}  // namespace trireme
