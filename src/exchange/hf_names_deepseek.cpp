// DeepSeek-V3. What predicts the token after the next stands behind the last layer, as in DeepSeek's own
// files: transformers passes over it.
#include "exchange/hf_names.h"

namespace trireme {
namespace {

void name_attention(MapBuilder& map, const ModelSpec& spec, RopeLayout rotary, const std::string& ours,
                    const std::string& theirs) {
  const MlaSpec& mla = spec.mla;
  PairOrder queries, keys;
  if (spec.rope_layout != rotary) {
    queries = {
        .period = spec.head_dim, .first = mla.nope_dim, .dims = mla.rope_dim, .ours = spec.rope_layout};
    keys = {.period = mla.rope_dim, .first = 0, .dims = mla.rope_dim, .ours = spec.rope_layout};
  }
  const MatrixRows all{0, spec.heads * spec.head_dim};
  if (mla.q_rank == 0) {
    map.rows(ours + "q.weight", all, theirs + "q_proj.weight", queries);
  } else {
    map.whole(ours + "q_down.weight", theirs + "q_a_proj.weight");
    map.whole(ours + "q_norm.weight", theirs + "q_a_layernorm.weight");
    map.rows(ours + "q_up.weight", all, theirs + "q_b_proj.weight", queries);
  }
  // Rows: the latent vector, then the rotated key of all heads.
  const int64_t latent = mla.kv_rank * spec.width;
  const size_t both =
      map.foreign(theirs + "kv_a_proj_with_mqa.weight", {mla.kv_rank + mla.rope_dim, spec.width});
  map.piece(ours + "kv_down.weight", {.foreign = both, .rows = 1, .cols = latent, .stride = latent});
  map.piece(ours + "k_rope.weight", {.foreign = both,
                                     .rows = mla.rope_dim,
                                     .cols = spec.width,
                                     .stride = spec.width,
                                     .foreign_begin = latent,
                                     .foreign_row_step = spec.width,
                                     .order = keys});
  map.whole(ours + "kv_norm.weight", theirs + "kv_a_layernorm.weight");
  map.whole(ours + "kv_up.weight", theirs + "kv_b_proj.weight");
  map.whole(ours + "out.weight", theirs + "o_proj.weight");
}

// Row 0 of a router's state is what is added to its scores for the choice.
void name_experts(MapBuilder& map, const ModelSpec& spec, const std::string& ours,
                  const std::string& theirs) {
  const int64_t experts = spec.moe.experts;
  const std::string bias = theirs + "gate.e_score_correction_bias";
  map.whole(ours + "router.weight", theirs + "gate.weight");
  map.piece(ours + "balance",
            {.foreign = map.foreign(bias, {experts}), .rows = 1, .cols = experts, .stride = experts});
  map.keep_f32(bias);
  name_hf_experts(map, ours + "experts.", theirs + "experts.",
                  {"gate_proj.weight", "up_proj.weight", "down_proj.weight"});
  if (spec.moe.shared_ffn > 0) name_hf_gated(map, ours + "shared.", theirs + "shared_experts.");
}

void name_layer(MapBuilder& map, const ModelSpec& spec, RopeLayout rotary, LayerKind kind,
                const std::string& ours, const std::string& theirs) {
  map.whole(ours + "attn_norm.weight", theirs + "input_layernorm.weight");
  map.whole(ours + "mlp_norm.weight", theirs + "post_attention_layernorm.weight");
  name_attention(map, spec, rotary, ours + "attn.", theirs + "self_attn.");
  if (kind == LayerKind::moe)
    name_experts(map, spec, ours + "moe.", theirs + "mlp.");
  else
    name_hf_gated(map, ours + "mlp.", theirs + "mlp.");
}

// The projection of [embedding, hidden] is one matrix there. Its embedding and its head are the model's own,
// which the files repeat.
void name_further_token(MapBuilder& map, const ModelSpec& spec, RopeLayout rotary) {
  const std::string theirs = "model.layers." + std::to_string(spec.layers) + ".";
  const int64_t width = spec.width;
  name_layer(map, spec, rotary, layer_kind(spec, spec.layers - 1), "mtp.", theirs);
  map.whole("mtp.embed_norm.weight", theirs + "enorm.weight");
  map.whole("mtp.hidden_norm.weight", theirs + "hnorm.weight");
  const size_t both = map.foreign(theirs + "eh_proj.weight", {width, 2 * width});
  MapPiece half{
      .foreign = both, .rows = width, .cols = width, .stride = width, .foreign_row_step = 2 * width};
  map.piece("mtp.embed_proj.weight", half);
  half.foreign_begin = width;
  map.piece("mtp.hidden_proj.weight", half);
  map.whole("mtp.final_norm.weight", theirs + "shared_head.norm.weight");
  map.whole("embed.weight", theirs + "embed_tokens.weight", ForeignUse::copy);
  map.whole("head.weight", theirs + "shared_head.head.weight", ForeignUse::copy);
}

}  // namespace

void name_deepseek(MapBuilder& map, const ModelSpec& spec, RopeLayout rotary) {
  name_hf_ends(map, spec);
  for (int64_t n = 0; n < spec.layers; ++n)
    name_layer(map, spec, rotary, layer_kind(spec, n), "layers." + std::to_string(n) + ".",
               "model.layers." + std::to_string(n) + ".");
  if (spec.mtp > 0) name_further_token(map, spec, rotary);
}

}  // namespace trireme
