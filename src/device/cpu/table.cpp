// The CPU kernels, one line per op. A test holds this list against the op table.
#include <vector>

#include "device/cpu/kernels.h"

namespace trireme {

PrepareCpuKernel find_cpu_kernel(std::string_view op) {
  struct Row {
    std::string_view op;
    PrepareCpuKernel prepare;
  };
  const std::vector<Row> rows = {
      {"activation", prepare_activation},
      {"activation_grad", prepare_activation_grad},
      {"adamw", prepare_adamw},
      {"add", prepare_add},
      {"add_bias", prepare_add_bias},
      {"add_bias_grad", prepare_add_bias_grad},
      {"add_layernorm", prepare_add_layernorm},
      {"add_rmsnorm", prepare_add_rmsnorm},
      {"all_gather", prepare_all_gather},
      {"all_reduce", prepare_all_reduce},
      {"attention", prepare_attention},
      {"attention_grad", prepare_attention_grad},
      {"balance", prepare_balance},
      {"balance_grad", prepare_balance_grad},
      {"cached_attention", prepare_cached_attention},
      {"cast", prepare_cast},
      {"embedding", prepare_embedding},
      {"embedding_grad", prepare_embedding_grad},
      {"expert_bias", prepare_expert_bias},
      {"experts", prepare_experts},
      {"experts_grad", prepare_experts_grad},
      {"gather_attention", prepare_gather_attention},
      {"gather_attention_grad", prepare_gather_attention_grad},
      {"gather_linear", prepare_gather_linear},
      {"grad_norm", prepare_grad_norm},
      {"head_logits", prepare_head_logits},
      {"head_loss", prepare_head_loss},
      {"head_loss_grad", prepare_head_loss_grad},
      {"layernorm", prepare_layernorm},
      {"layernorm_grad", prepare_layernorm_grad},
      {"linear", prepare_linear},
      {"linear_grad_input", prepare_linear_grad_input},
      {"linear_grad_weight", prepare_linear_grad_weight},
      {"linear_scatter", prepare_linear_scatter},
      {"mla_qkv", prepare_mla_qkv},
      {"mla_qkv_grad", prepare_mla_qkv_grad},
      {"mla_values", prepare_mla_values},
      {"mla_values_grad", prepare_mla_values_grad},
      {"mtp_targets", prepare_mtp_targets},
      {"pack", prepare_pack},
      {"positions", prepare_positions},
      {"positions_grad", prepare_positions_grad},
      {"qk_norm", prepare_qk_norm},
      {"qk_norm_grad", prepare_qk_norm_grad},
      {"reduce_scatter", prepare_reduce_scatter},
      {"ring_attention", prepare_ring_attention},
      {"ring_attention_grad", prepare_ring_attention_grad},
      {"rmsnorm", prepare_rmsnorm},
      {"rmsnorm_grad", prepare_rmsnorm_grad},
      {"rope", prepare_rope},
      {"router", prepare_router},
      {"router_grad", prepare_router_grad},
      {"sgd", prepare_sgd},
      {"slice", prepare_slice},
      {"stack_batch", prepare_stack_batch},
      {"sum_rows", prepare_sum_rows},
      {"sum_squares", prepare_sum_squares},
      {"swiglu", prepare_swiglu},
      {"swiglu_grad", prepare_swiglu_grad},
      {"ulysses_attention", prepare_ulysses_attention},
      {"ulysses_attention_grad", prepare_ulysses_attention_grad},
      {"unstack_batch", prepare_unstack_batch},
      {"zero", prepare_zero},
  };
  for (const Row& row : rows)
    if (row.op == op) return row.prepare;
  return nullptr;
}

}  // namespace trireme
