// The Code of what a parameter group does: unshard and cast (master -> compute copy), zero (gradient
// accumulator), combine (of lanes, of uses), norm_partial, group_norm, optimizer; and of the two sums over a
// step, loss and grad_norm. Each is a forward list over state values.
#pragma once
#include <vector>

#include "config/optimizer.h"
#include "lower/param_groups.h"

namespace trireme {

// The optimizer as the config has it (ops/adamw/adamw.h, ops/sgd/sgd.h).
struct UpdateRule {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;  // AdamW
  double momentum = 0;                           // SGD
  double weight_decay = 0.1;
  double clip_norm = 1.0;   // 0: off
  double balance_rate = 0;  // of the experts' biases (ops/expert_bias/expert_bias.h)
};

// Code for `elements` of master weights: values master_resident, master_transient (f32), resident, transient
// (compute). A part without elements has no values.
Code unshard_code(int64_t elements, int64_t resident, DType compute);
// Values from and to: the same numbers, in dtype `to`.
Code cast_code(int64_t elements, DType from, DType to);
// Values earlier and later: what is in `later` is added to `earlier`.
Code combine_code(int64_t elements);
// Value grad.
Code zero_code(int64_t elements);
// Values grad, partial (f64, one per kParamAlignment elements).
Code norm_partial_code(int64_t elements);
// Values partials (f64[n]), norm (f64[1]): their sum.
Code group_norm_code(int64_t partials);
// Values partials, scalars.
Code grad_norm_code(int64_t partials, const UpdateRule& rule);
// Per range i: values grad.i, master.i, moment1.i and, of AdamW, moment2.i; and scalars.
Code optimizer_code(const std::vector<FlatRange>& ranges, const UpdateRule& rule);
// Of a router's state over `experts`: values load, state, last (f32[2,experts]) and scalars.
Code router_state_code(int64_t experts, double rate);
// Values losses (f64[micro_batches, 2], of equal lanes) and result (f64[2]).
Code loss_code(int64_t micro_batches, int64_t lanes);

}  // namespace trireme
