// Every op's CPU entry, defined in ops/NAME/cpu.cpp.
#pragma once
#include "device/cpu/kernel.h"

namespace trireme {

CpuKernel prepare_activation(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_activation_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_adamw(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_add(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_add_bias(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_add_bias_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_add_layernorm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_add_rmsnorm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_all_gather(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_all_reduce(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_attention_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_balance(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_balance_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_cached_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_cast(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_embedding(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_embedding_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_expert_bias(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_experts(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_experts_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_gather_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_gather_attention_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_gather_linear(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_grad_norm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_head_logits(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_head_loss(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_head_loss_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_layernorm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_layernorm_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_linear(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_linear_grad_input(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_linear_grad_weight(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_linear_scatter(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_mla_qkv(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_mla_qkv_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_mla_values(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_mla_values_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_mtp_targets(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_pack(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_positions(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_positions_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_qk_norm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_qk_norm_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_reduce_scatter(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_ring_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_ring_attention_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_rmsnorm(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_rmsnorm_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_rope(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_router(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_router_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_sgd(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_slice(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_stack_batch(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_sum_rows(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_sum_squares(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_swiglu(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_swiglu_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_ulysses_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_ulysses_attention_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_unstack_batch(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_zero(const OpSig& sig, const CpuContext& context);

}  // namespace trireme
