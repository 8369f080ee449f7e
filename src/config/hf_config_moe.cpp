// Model types with experts: Mixtral, Qwen3-MoE, DeepSeek-V3. The coefficient of transformers' auxiliary loss
// is taken for ours, which is Switch's: per layer, with load fractions that add up to 1.
#include <fmt/format.h>

#include "config/hf_config_parts.h"

namespace trireme {
namespace {

// How many there are, in the type's own words; transformers v5 writes num_local_experts for some types.
void read_experts(HfReader& in, RawModel& m, const char* own_key) {
  const auto own = in.integer(own_key), local = in.integer("num_local_experts");
  if (own && local && *own != *local)
    in.refuse("num_local_experts", fmt::format("differs from {} = {}", own_key, *own));
  m.moe.experts = local ? *local : in.need_integer(own_key);
  if (*m.moe.experts < 1) in.refuse(own ? own_key : "num_local_experts", "must be at least 1");
  m.moe.top_k = in.need_integer("num_experts_per_tok");
}

// Layers 0 ... n - 1 as a list; any other list has no key here.
void read_dense_layers(HfReader& in, RawModel& m) {
  const HfReader::Json* layers = in.find("mlp_only_layers");
  m.moe.first_dense = 0;
  if (layers == nullptr) return;
  const auto wrong = [&] {
    in.refuse("mlp_only_layers", "is not supported; only the first layers, as 0, 1, 2, can be dense");
  };
  if (!layers->is_array()) wrong();
  int64_t next = 0;
  for (const HfReader::Json& layer : *layers) {
    if (!layer.is_number_integer() || layer.get<int64_t>() != next) wrong();
    ++next;
  }
  m.moe.first_dense = next;
}

}  // namespace

RawModel read_hf_mixtral(HfReader& in) {
  RawModel m;
  m.family = Family::llama;
  read_hf_gated_shape(in, m);
  m.head_dim = in.integer("head_dim");
  m.norm_eps = in.number("rms_norm_eps").value_or(1e-5);
  m.rope_layout = RopeLayout::half;
  if (const auto window = in.integer("sliding_window")) {
    if (*window < 1) in.refuse("sliding_window", "is not a window of at least 1 token");
    m.window = window;
  }
  read_experts(in, m, "num_local_experts");
  m.moe.softmax_order = SoftmaxOrder::after;  // of all, then normalised: the same numbers
  m.moe.aux_loss = in.number("router_aux_loss_coef").value_or(0.001);
  in.find("output_router_logits");  // what the call returns
  in.only_number("router_jitter_noise", 0.0);
  return m;
}

RawModel read_hf_qwen3_moe(HfReader& in) {
  RawModel m;
  m.family = Family::llama;
  read_hf_gated_shape(in, m);
  m.head_dim = in.integer("head_dim");
  m.norm_eps = in.number("rms_norm_eps").value_or(1e-6);
  m.rope_layout = RopeLayout::half;
  m.qk_norm = true;
  in.only_boolean("attention_bias", false);
  read_hf_window(in, m);
  read_experts(in, m, "num_experts");
  m.moe.expert_ffn = in.need_integer("moe_intermediate_size");
  m.moe.normalize = in.boolean("norm_topk_prob").value_or(false);
  m.moe.every = in.integer("decoder_sparse_step").value_or(1);
  if (*m.moe.every < 1) in.refuse("decoder_sparse_step", "must be at least 1");
  read_dense_layers(in, m);
  if (*m.moe.every > 1 && *m.moe.first_dense > 0)
    in.refuse("mlp_only_layers", fmt::format("is not supported with decoder_sparse_step = {}", *m.moe.every));
  m.moe.aux_loss = in.number("router_aux_loss_coef").value_or(0.001);
  in.find("output_router_logits");
  return m;
}

namespace {

void read_latent_attention(HfReader& in, RawModel& m) {
  m.mla.q_rank = in.integer("q_lora_rank").value_or(0);
  const auto dims = [&](const char* key) {
    const int64_t n = in.need_integer(key);
    if (n < 1 || n > 65536) in.refuse(key, "is not a size from 1 to 65536");
    return n;
  };
  m.mla.kv_rank = in.need_integer("kv_lora_rank");
  m.mla.nope_dim = dims("qk_nope_head_dim");
  m.mla.rope_dim = dims("qk_rope_head_dim");
  m.mla.v_dim = in.need_integer("v_head_dim");
  const int64_t head_dim = *m.mla.nope_dim + *m.mla.rope_dim;
  // The library writes them from the others; head_dim is there the rotated part.
  if (in.integer("qk_head_dim").value_or(head_dim) != head_dim)
    in.refuse("qk_head_dim", fmt::format("is not qk_nope_head_dim + qk_rope_head_dim = {}", head_dim));
  if (in.integer("head_dim").value_or(*m.mla.rope_dim) != *m.mla.rope_dim)
    in.refuse("head_dim", fmt::format("is not qk_rope_head_dim = {}", *m.mla.rope_dim));
  m.rope_layout = in.boolean("rope_interleave").value_or(true) ? RopeLayout::interleaved : RopeLayout::half;
  in.only_boolean("attention_bias", false);
}

// Without the key there is the class's one; null is DeepSeek's own way to say that there are none.
int64_t shared_ffn(HfReader& in, int64_t expert_ffn) {
  const int64_t experts = in.integer("n_shared_experts").value_or(in.is_null("n_shared_experts") ? 0 : 1);
  int64_t ffn = 0;
  if (__builtin_mul_overflow(experts, expert_ffn, &ffn)) in.refuse("n_shared_experts", "is too many");
  return ffn;
}

// What DeepSeek-V3's own file says and transformers' class has no key for.
void check_released_file(HfReader& in) {
  in.only_number("moe_layer_freq", 1);
  in.only_word("scoring_func", "sigmoid");
  in.only_word("topk_method", "noaux_tc");
  in.find("ep_size");              // how its own code spreads the experts
  in.find("quantization_config");  // how its weights are stored
  in.find("aux_loss_alpha");       // of the loss that topk_method = noaux_tc does without
  in.find("seq_aux");
  in.find("output_router_logits");
}

}  // namespace

RawModel read_hf_deepseek_v3(HfReader& in) {
  RawModel m;
  m.family = Family::deepseek;
  read_hf_gated_shape(in, m);
  in.only_number("rms_norm_eps", 1e-6);  // the norms of the latent vectors have it in the class, not the file
  m.norm_eps = 1e-6;
  read_latent_attention(in, m);
  read_experts(in, m, "n_routed_experts");
  m.moe.expert_ffn = in.need_integer("moe_intermediate_size");
  m.moe.shared_ffn = shared_ffn(in, *m.moe.expert_ffn);
  m.moe.first_dense = in.integer("first_k_dense_replace").value_or(3);
  m.moe.score = RouterScore::sigmoid;
  m.moe.normalize = in.boolean("norm_topk_prob").value_or(true);
  m.moe.groups = in.integer("n_group").value_or(8);
  m.moe.top_groups = in.integer("topk_group").value_or(4);
  m.moe.scale = in.number("routed_scaling_factor").value_or(2.5);
  m.mtp = in.integer("num_nextn_predict_layers").value_or(0);
  if (*m.mtp < 0 || *m.mtp > 1) in.refuse("num_nextn_predict_layers", "is not supported; 0 and 1 are");
  check_released_file(in);
  return m;
}

}  // namespace trireme
