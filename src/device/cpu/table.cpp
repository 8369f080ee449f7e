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
      {"attention", prepare_attention},
      {"attention_grad", prepare_attention_grad},
      {"cached_attention", prepare_cached_attention},
      {"embedding", prepare_embedding},
      {"embedding_grad", prepare_embedding_grad},
      {"head_logits", prepare_head_logits},
      {"head_loss", prepare_head_loss},
      {"head_loss_grad", prepare_head_loss_grad},
      {"linear", prepare_linear},
      {"linear_grad_input", prepare_linear_grad_input},
      {"linear_grad_weight", prepare_linear_grad_weight},
      {"pack", prepare_pack},
      {"positions", prepare_positions},
      {"positions_grad", prepare_positions_grad},
      {"qk_norm", prepare_qk_norm},
      {"qk_norm_grad", prepare_qk_norm_grad},
      {"rope", prepare_rope},
      {"swiglu", prepare_swiglu},
      {"swiglu_grad", prepare_swiglu_grad},
  };
  for (const Row& row : rows)
    if (row.op == op) return row.prepare;
  return nullptr;
}

}  // namespace trireme
